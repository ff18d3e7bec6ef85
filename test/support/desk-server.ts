import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fastify, { type FastifyInstance } from "fastify";
import { afterEach } from "vitest";
import { workerRoutes } from "../../src/api/worker-routes.js";
import type { AttemptRow, RunRow } from "../../src/core/model/rows.js";
import { WorkerPool } from "../../src/fleet/desk/pool.js";
import type { RemoteWorkerOptions } from "../../src/fleet/remote/remote-worker-options.js";
import { systemClock } from "../../src/run/engine/clock.js";
import type { Assignment, Needs, Seat } from "../../src/run/worker.js";
import { LiveWorker } from "./live-worker.js";
import { assignment, follow, localPart, NEEDS, type Running } from "./pool-bench.js";

/** A pool behind a real HTTP server, with real workers; the test takes the engine's part. */
export class DeskServer {
  readonly folder = mkdtempSync(join(tmpdir(), "daruma-desk-"));
  /** What the store says. */
  runs: RunRow[] = [];
  rows: AttemptRow[] = [];
  private app: FastifyInstance | null = null;
  private workers: LiveWorker[] = [];
  private open: WorkerPool | null = null;

  constructor() {
    afterEach(async () => {
      for (const worker of this.workers) await worker.end();
      this.workers = [];
      await this.stop();
      rmSync(this.folder, { recursive: true, force: true });
    });
  }

  get pool(): WorkerPool {
    return this.open!;
  }

  /** Each time another pool: the server was started again, at the same address. */
  async start(leaseMs = 60_000): Promise<void> {
    const port = Number(this.app === null ? 0 : new URL(this.url).port);
    await this.stop();
    this.open = new WorkerPool({
      local: localPart(0),
      outputDir: join(this.folder, "server"),
      clock: systemClock,
      leaseMs,
      recorded: {
        readAttempts: async () => this.rows,
        readJob: async () => null,
        readRun: async (runId) => this.runs.find(({ id }) => id === runId) ?? null,
      },
    });
    this.app = fastify({ forceCloseConnections: true });
    await this.app.register(workerRoutes({ desk: this.open.desk }), { prefix: "/api/v1" });
    await this.app.listen({ port, host: "127.0.0.1" });
    this.address = `http://127.0.0.1:${(this.app.server.address() as { port: number }).port}`;
  }

  private address = "";

  get url(): string {
    return this.address;
  }

  work(options: Partial<RemoteWorkerOptions> = {}): LiveWorker {
    const worker = new LiveWorker(this.folder, { servers: [this.url], ...options });
    this.workers.push(worker);
    return worker;
  }

  async place(needs: Needs = NEEDS): Promise<Seat> {
    for (;;) {
      const place = this.pool.place(needs);
      if (place !== "full" && place !== null) return place;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  execute(place: Seat, changes: Partial<Assignment>): Running {
    const controller = new AbortController();
    const { signal } = controller;
    return follow(controller, (ended) => this.pool.execute(assignment(changes), place, signal, ended));
  }

  private async stop(): Promise<void> {
    await this.open?.close();
    await this.app?.close();
    this.open = null;
  }
}
