import type { FastifyInstance } from "fastify";
import type { Operation } from "../operations/operation.js";
import { DOCS_PAGE, DOCS_SCRIPT, DOCS_STYLE } from "./docs-page.js";
import { API_PREFIX } from "./limits.js";
import { type DocumentedGroup, openApiDocument } from "./openapi.js";

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
