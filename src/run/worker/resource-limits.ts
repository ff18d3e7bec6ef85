import type { ProcessUsage } from "../../core/model/events.js";
import type { FailureFacts } from "../../core/model/failure.js";
import type { Outcome } from "../../core/model/outcome.js";
import { failureOf, KILLED_EXIT_CODE } from "../../core/model/resources.js";
import { aboutSize, durationAmount, sizeText } from "../../core/text/amount-text.js";
import type { Json } from "../../core/text/json.js";
import { memoryOfToken } from "../process/attempt-processes.js";
import type { Assignment } from "../worker.js";
import type { TimerPort } from "./attempt-timers.js";

/** How often the memory of a step with a limit is checked. */
const MEMORY_POLL_MS = 250;

/** Counts processes that the kernel has killed here for lack of memory. Null if unknown. */
export interface KillCounter {
  count(): number | null;
}

/** Ends an attempt that takes more time or memory than it asked for, and recognises when the system has killed one. */
export class ResourceLimits {
  /** Set once a limit was exceeded. */
  private exceeded: FailureFacts | null = null;
  private readonly killsBefore: number | null;
  /** The peak of all processes together, as far as it was measured. */
  private peakBytes = 0;
  private cancel: (() => void) | null = null;
  private poll: (() => void) | null = null;

  constructor(
    private readonly clock: TimerPort,
    private readonly assignment: Assignment,
    private readonly stop: () => void,
    /** Null if nothing of the attempt can be killed. */
    private readonly kills: KillCounter | null,
  ) {
    this.killsBefore = kills?.count() ?? null;
    const { resources } = assignment;
    if (resources?.runtimeMs != null) {
      const { runtimeMs } = resources;
      const facts = {
        ...failureOf("runtime"),
        message: `ran longer than the ${durationAmount(runtimeMs)} it asked for`,
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

  /** The attempt's resource use: that of all processes together, if it is larger than that of a single one. */
  used({ used }: Outcome<Json>): ProcessUsage | undefined {
    if (used === undefined || used.peak_memory_bytes >= this.peakBytes) return used;
    return { ...used, peak_memory_bytes: this.peakBytes };
  }

  /** Why the attempt has ended, if a limit or the system caused it. Null if the action's own result counts. */
  judge(result: Outcome<Json>): FailureFacts | null {
    if (this.exceeded !== null) return this.exceeded;
    if (result.kind !== "failed" || !wasKilled(result.facts) || !this.wasOutOfMemory()) return null;
    const asked = this.assignment.resources?.memoryBytes ?? null;
    const peak = Math.max(this.peakBytes, result.used?.peak_memory_bytes ?? 0);
    const noMemory = "the system ended it because there was no memory left";
    if (asked === null || peak === 0) return { ...failureOf("memory"), message: noMemory };
    const share = `${sizeText(peak)} of the ${sizeText(asked)} it asked for`;
    if (peak > asked) return { ...failureOf("memory"), message: `${noMemory}; it had used ${share}` };
    // Others have used the memory that was meant for it.
    const message = `${noMemory}, though it had used only ${share}`;
    return { ...result.facts, evicted: true, message };
  }

  /**
   * Whether it was killed for lack of memory. With several attempts at once the kill may have been another's, but this
   * one was killed, too.
   */
  private wasOutOfMemory(): boolean {
    const kills = this.kills?.count() ?? null;
    return kills !== null && this.killsBefore !== null && kills > this.killsBefore;
  }

  private pass(facts: FailureFacts): void {
    this.exceeded ??= facts;
    this.stop();
  }

  private watch(limit: number): void {
    this.poll = this.clock.after(MEMORY_POLL_MS, () => {
      // If it cannot be read now, the next check comes later.
      const used = memoryOfToken(this.assignment.token).catch(() => 0);
      void used.then((bytes) => {
        if (this.poll === null) return;
        this.peakBytes = Math.max(this.peakBytes, bytes);
        if (bytes <= limit) return this.watch(limit);
        this.pass({
          ...failureOf("memory"),
          message: `used ${aboutSize(bytes)} of memory, more than the ${sizeText(limit)} it asked for`,
        });
      });
    });
  }
}

function wasKilled({ signal, exitCode, code, timeout }: FailureFacts): boolean {
  if (code !== undefined || timeout !== undefined) return false;
  return signal === undefined ? exitCode === KILLED_EXIT_CODE : signal === "SIGKILL";
}
