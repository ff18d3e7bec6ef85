import { memoryOfToken } from "../action/process/attempt-processes.js";
import type { FailureFacts } from "../core/model/failure.js";
import { failureOf } from "../core/model/resources.js";
import type { TimerPort } from "./attempt-timers.js";
import type { Assignment } from "./worker.js";

/** How often a step with a memory limit is looked at. */
const MEMORY_POLL_MS = 250;

/** Ends an attempt that takes more time or memory than it asked for. */
export class ResourceLimits {
  /** Set once a limit was passed. */
  exceeded: FailureFacts | null = null;
  private cancel: (() => void) | null = null;
  private poll: (() => void) | null = null;

  constructor(
    private readonly clock: TimerPort,
    private readonly assignment: Assignment,
    private readonly stop: () => void,
  ) {
    const { resources } = assignment;
    if (resources?.runtimeMs != null) {
      const { runtimeMs } = resources;
      const facts = {
        ...failureOf("runtime"),
        message: `ran longer than the ${runtimeMs} ms it asked for`,
      };
      this.cancel = clock.after(runtimeMs, () => this.pass(facts));
    }
    if (resources?.memoryBytes != null) this.watch(resources.memoryBytes);
  }

  clear(): void {
    this.cancel?.();
    this.poll?.();
    this.poll = null;
  }

  private pass(facts: FailureFacts): void {
    this.exceeded ??= facts;
    this.stop();
  }

  private watch(limit: number): void {
    this.poll = this.clock.after(MEMORY_POLL_MS, () => {
      // What cannot be read now is read the next time.
      const used = memoryOfToken(this.assignment.token).catch(() => 0);
      void used.then((bytes) => {
        if (this.poll === null) return;
        if (bytes <= limit) return this.watch(limit);
        this.pass({
          ...failureOf("memory"),
          message: `used ${bytes} bytes of memory, more than the ${limit} it asked for`,
        });
      });
    });
  }
}
