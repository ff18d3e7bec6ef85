import { readdirSync, readFileSync, statSync } from "node:fs";
import { extname, join } from "node:path";
import { gzipSync } from "node:zlib";
import type { FastifyInstance } from "fastify";
import { DarumaError } from "../core/errors/errors.js";
import type { Operation } from "../operations/operation.js";
import type { Store } from "../store/store.js";
import { requireRole } from "./admission.js";
import { API_PREFIX } from "./limits.js";
import { type DocumentedGroup, openApiDocument } from "./openapi.js";

/** The page that shows the OpenAPI document. Its three small files are all served from here. */
const DOCS_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Daruma API</title>
<link rel="stylesheet" href="/api/v1/docs/style.css">
<script src="/api/v1/docs/script.js" defer></script>
</head>
<body>
<header>
<h1>Daruma API</h1>
<label>Find <input id="find" type="search" autocomplete="off"></label>
<label>Token <input id="token" type="password" autocomplete="off" placeholder="drm_..."></label>
<a href="/api/v1/openapi.json">openapi.json</a>
</header>
<main id="operations"><noscript>This page needs scripts; the document is at /api/v1/openapi.json.</noscript></main>
</body>
</html>
`;

const DOCS_STYLE = `
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { margin: 0 auto; max-width: 60rem; padding: 0 1rem 4rem; }
header { align-items: center; display: flex; flex-wrap: wrap; gap: 1rem; padding: 1rem 0; }
h1 { flex: 1; font-size: 1.4rem; margin: 0; }
h2 { border-bottom: 1px solid #8884; font-size: 1.1rem; margin: 2rem 0 .5rem; }
details { border: 1px solid #8884; border-radius: 6px; margin: .4rem 0; padding: .3rem .7rem; }
summary { cursor: pointer; }
code, pre, textarea { font: 13px/1.45 ui-monospace, monospace; }
pre { background: #8882; border-radius: 6px; max-height: 24rem; overflow: auto; padding: .6rem; white-space: pre-wrap; }
textarea { box-sizing: border-box; min-height: 6rem; width: 100%; }
table { border-collapse: collapse; width: 100%; }
td { border-top: 1px solid #8884; padding: .25rem .5rem .25rem 0; vertical-align: top; }
.method { display: inline-block; font-weight: 700; width: 4.5rem; }
.role { float: right; opacity: .7; }
`;

/** The script creates elements only by name and text, so nothing in the document is read as markup. */
const DOCS_SCRIPT = `"use strict";
const el = (name, props, ...children) => {
  const node = Object.assign(document.createElement(name), props);
  node.append(...children.filter((child) => child != null));
  return node;
};
const json = (value) => el("pre", { textContent: JSON.stringify(value, null, 2) });

function fieldTable(parameters) {
  const rows = parameters.map((field) => {
    const input = el("input", { type: "text", autocomplete: "off" });
    input.dataset.name = field.name;
    input.dataset.place = field.in;
    const note = (field.required ? "required. " : "") + (field.description || "");
    return el("tr", {}, el("td", {}, el("code", { textContent: field.name })), el("td", { textContent: field.in }),
      el("td", {}, input), el("td", { textContent: note }));
  });
  return rows.length === 0 ? null : el("table", {}, ...rows);
}

async function send(path, method, box, body, answer) {
  let url = path;
  const query = new URLSearchParams();
  const headers = {};
  for (const input of box.querySelectorAll("input")) {
    if (input.value === "") continue;
    if (input.dataset.place === "path") url = url.replace("{" + input.dataset.name + "}", encodeURIComponent(input.value));
    else if (input.dataset.place === "header") headers[input.dataset.name] = input.value;
    else query.append(input.dataset.name, input.value);
  }
  const token = document.getElementById("token").value;
  if (token !== "") headers.authorization = "Bearer " + token;
  if (body !== null) headers["content-type"] = "application/json";
  const text = query.toString();
  try {
    const response = await fetch(url + (text === "" ? "" : "?" + text), { method, headers, body: body === null ? undefined : body.value });
    answer.textContent = response.status + " " + response.statusText + "\\n" + (await response.text());
  } catch (error) {
    answer.textContent = String(error);
  }
}

function operationNode(path, method, operation) {
  const parameters = operation.parameters || [];
  const schema = operation.requestBody?.content?.["application/json"]?.schema;
  const body = schema === undefined ? null : el("textarea", { value: "{}", spellcheck: false });
  const answer = el("pre", {});
  const box = el("details", {},
    el("summary", {}, el("span", { className: "method", textContent: method.toUpperCase() }),
      el("code", { textContent: path }), el("span", { textContent: "  " + (operation.summary || "") }),
      el("span", { className: "role", textContent: operation["x-daruma-role"] || "" })),
    el("p", { textContent: operation.description || "" }), fieldTable(parameters),
    body === null ? null : el("div", {}, el("p", { textContent: "Body" }), json(schema), body));
  const button = el("button", { type: "button", textContent: "Send" });
  button.addEventListener("click", () => send(path, method.toUpperCase(), box, body, answer));
  const responses = Object.entries(operation.responses || {}).filter(([status]) => status < "300");
  box.append(el("p", {}, button), answer, el("p", { textContent: "Answers" }), json(Object.fromEntries(responses)));
  box.dataset.words = (path + " " + operation.operationId + " " + operation.summary).toLowerCase();
  return box;
}

async function show() {
  const { paths } = await (await fetch("/api/v1/openapi.json")).json();
  const main = document.getElementById("operations");
  const groups = new Map();
  for (const [path, methods] of Object.entries(paths))
    for (const [method, operation] of Object.entries(methods)) {
      const tag = (operation.tags || ["other"])[0];
      if (!groups.has(tag)) groups.set(tag, []);
      groups.get(tag).push(operationNode(path, method, operation));
    }
  main.replaceChildren(...[...groups].map(([tag, nodes]) => el("section", {}, el("h2", { textContent: tag }), ...nodes)));
  document.getElementById("find").addEventListener("input", (event) => {
    const wanted = event.target.value.toLowerCase();
    for (const node of main.querySelectorAll("details")) node.hidden = !node.dataset.words.includes(wanted);
  });
}
show();
`;

/** Serves the description of the API. It says nothing about runs, so it needs no token and a browser can show it. */
export function documentRoutes(
  app: FastifyInstance,
  operations: readonly Operation[],
  groups: readonly DocumentedGroup[],
): void {
  const open = { config: { public: true as const } };
  const document = JSON.stringify(openApiDocument(operations, groups));
  const pages: readonly (readonly [path: string, type: string, text: string])[] = [
    ["/openapi.json", "application/json; charset=utf-8", document],
    ["/docs", "text/html; charset=utf-8", DOCS_PAGE],
    ["/docs/script.js", "text/javascript; charset=utf-8", DOCS_SCRIPT],
    ["/docs/style.css", "text/css; charset=utf-8", DOCS_STYLE],
  ];
  for (const [path, type, text] of pages)
    app.get(`${API_PREFIX}${path}`, open, async (_request, reply) =>
      reply.header("content-type", type).send(text),
    );
}

const TYPES: { readonly [ending: string]: string } = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
};

/** Caching of files whose name changes with their content. */
const FOREVER = "public, max-age=31536000, immutable";

/**
 * Serves the built files of the page. They say nothing about runs, so they need no token; the page gets its data from
 * the API. All addresses of the page lie behind the `#`, so none can collide with the API.
 */
export function pageRoutes(app: FastifyInstance, folder: string): void {
  const open = { config: { public: true as const } };
  for (const name of filesIn(folder)) {
    const path = name === "index.html" ? "/" : `/${name}`;
    const bytes = readFileSync(join(folder, name));
    const compressed = gzipSync(bytes);
    app.get(path, open, async (request, reply) => {
      const takesGzip = /\bgzip\b/.test(String(request.headers["accept-encoding"] ?? ""));
      reply
        .header("content-type", TYPES[extname(name)] ?? "application/octet-stream")
        .header("cache-control", name.startsWith("assets/") ? FOREVER : "no-cache")
        .header("vary", "accept-encoding");
      return takesGzip ? reply.header("content-encoding", "gzip").send(compressed) : reply.send(bytes);
    });
  }
}

function filesIn(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return names.filter((name) => statSync(join(folder, name)).isFile());
}

interface HealthParts {
  readonly store: Pick<Store, "ping">;
  readonly isReady: () => boolean;
  readonly metrics?: () => string;
}

/** The content type of the Prometheus text format. */
const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** Serves health checks for a supervisor: alive, ready, metrics. */
export function healthRoutes(app: FastifyInstance, { store, isReady, metrics }: HealthParts): void {
  const open = { config: { public: true as const } };
  app.get("/healthz", open, async () => ({ status: "ok" }));
  let asking: Promise<void> | null = null;
  app.get("/readyz", open, async () => {
    if (!isReady()) throw new DarumaError("SERVER_STOPPING", "the server is starting or stopping");
    // Anybody may ask, and a ping is a write, so concurrent requests share one.
    asking ??= store.ping().finally(() => {
      asking = null;
    });
    await asking;
    return { status: "ready" };
  });
  if (metrics === undefined) return;
  app.get("/metrics", { onRequest: requireRole("viewer") }, async (_request, reply) =>
    reply.header("content-type", METRICS_TYPE).send(metrics()),
  );
}
