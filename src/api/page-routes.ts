import { readdirSync, readFileSync, statSync } from "node:fs";
import { extname, join } from "node:path";
import { gzipSync } from "node:zlib";
import type { FastifyInstance } from "fastify";

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
