import { runRemoteWorker } from "../../src/fleet/remote/remote-worker.js";
import type { RemoteWorkerOptions } from "../../src/fleet/remote/remote-worker-options.js";
import { noopAction } from "../../src/run/action/built-in-actions.js";
import { createCommandAction } from "../../src/run/action/command.js";
import { createHttpAction } from "../../src/run/action/http.js";
import { systemClock } from "../../src/run/engine/clock.js";
import { createProcessHost } from "../../src/run/process/create-process-host.js";

/** A remote worker inside the test's own process; it speaks HTTP as any other. */
export class LiveWorker {
  readonly lines: string[] = [];
  private readonly draining = new AbortController();
  private readonly ending = new AbortController();
  private readonly processes = createProcessHost();
  private readonly ran: Promise<void>;

  constructor(
    outputDir: string,
    options: Partial<RemoteWorkerOptions> & { readonly servers: readonly string[] },
  ) {
    this.ran = runRemoteWorker({
      token: null,
      name: "w1",
      slots: 4,
      cpus: 4,
      memoryBytes: 1024 ** 3,
      tags: [],
      actions: [createCommandAction(this.processes), createHttpAction(), noopAction],
      outputDir,
      clock: systemClock,
      drain: this.draining.signal,
      end: this.ending.signal,
      log: (line) => this.lines.push(line),
      ...options,
    });
    this.ran.catch(() => {});
  }

  /** Finishes what it has and leaves. */
  async drain(): Promise<void> {
    this.draining.abort();
    await this.ran;
    await this.processes.close();
  }

  /** Ends what it has and leaves. */
  async end(): Promise<void> {
    this.ending.abort();
    await this.ran.catch(() => {});
    await this.processes.close();
  }
}
