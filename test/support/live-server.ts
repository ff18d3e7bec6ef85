import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, afterEach } from "vitest";
import {
  type RunningServer,
  type StartServerOptions,
  startServer,
} from "../../src/cli/server/start-server.js";
import { putRoleTokens, type RoleTokens } from "./api-server.js";

export interface Answer<T = Record<string, unknown>> {
  readonly status: number;
  readonly body: T;
  readonly headers: Headers;
}

/** Real servers on 127.0.0.1 with a real SQLite file each, for the tests of one file. */
export class LiveServers {
  private readonly folder = mkdtempSync(join(tmpdir(), "daruma-served-"));
  private readonly open = new Set<LiveServer>();
  private count = 0;

  /** `perFile`: they stay open until the last test of the file. */
  constructor({ perFile = false } = {}) {
    const closeAll = async (): Promise<void> => {
      for (const server of this.open) await server.close();
      this.open.clear();
    };
    if (!perFile) afterEach(closeAll);
    afterAll(async () => {
      await closeAll();
      rmSync(this.folder, { recursive: true, force: true });
    });
  }

  async start(options: Partial<StartServerOptions> = {}): Promise<LiveServer> {
    this.count += 1;
    const outputDir = options.outputDir ?? join(this.folder, `out-${this.count}`);
    const faults: unknown[] = [];
    const running = await startServer({
      port: 0,
      maxParallel: 4,
      checkOutput: true,
      requestsPerMinute: 0,
      onFault: (_reference, error) => faults.push(error),
      ...options,
      outputDir,
    });
    const server = new LiveServer(running, outputDir, faults);
    this.open.add(server);
    return server;
  }
}

export class LiveServer {
  private closed = false;

  constructor(
    readonly running: RunningServer,
    readonly outputDir: string,
    /** What was answered with a 500 or 503. */
    readonly faults: readonly unknown[],
  ) {}

  get url(): string {
    return this.running.url;
  }

  /** Workers may come in without one for a moment after the first was made: it is over when this answers. */
  async tokens(): Promise<RoleTokens> {
    const tokens = await putRoleTokens(this.running.store);
    while ((await this.ask("PUT", "/api/v1/workers/nobody/logs")).status !== 401) await delay(20);
    return tokens;
  }

  async ask<T = Record<string, unknown>>(
    method: string,
    path: string,
    { body, token }: { body?: unknown; token?: string } = {},
  ): Promise<Answer<T>> {
    const response = await fetch(`${this.url}${path}`, {
      method,
      headers: {
        // The server may close a connection that was kept while this process had no time for it.
        connection: "close",
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      body: (text === "" ? null : JSON.parse(text)) as T,
      headers: response.headers,
    };
  }

  /** Starts a workflow text; the answer is the run's id. */
  async run(source: string, more: object = {}): Promise<number> {
    const { status, body } = await this.ask<{ run_id: number }>("POST", "/api/v1/runs", {
      body: { source, ...more },
    });
    if (status !== 201) throw new Error(`not started: ${JSON.stringify(body)}`);
    return body.run_id;
  }

  /** Waits until the run has one of these statuses. */
  async until(runId: number, ...statuses: string[]): Promise<string> {
    for (;;) {
      const row = await this.running.store.readRun(runId);
      if (row !== null && statuses.includes(row.status)) return row.status;
      await delay(20);
    }
  }

  async job(runId: number, step: string): Promise<number> {
    return (await this.running.store.readJobs(runId)).find((job) => job.step === step)!.id;
  }

  async close(): Promise<void> {
    if (this.closed) return;
    this.closed = true;
    await this.running.close();
  }
}
