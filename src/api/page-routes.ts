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

/** Its name changes with its content. */
const FOREVER = "public, max-age=31536000, immutable";

/**
 * The files of the page, as they were built. They say nothing about anybody's runs, so they are open; what the page shows
 * comes from the API. All its addresses lie behind the `#`, so that none of them can meet one of the API.
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
