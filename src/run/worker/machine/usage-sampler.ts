import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { usageOfToken } from "../../process/attempt-processes.js";
import type { Assignment } from "../../worker.js";
import type { TimerPort } from "../attempt-timers.js";

/** The header of a file of samples. */
export const SAMPLE_COLUMNS = [
  "ms",
  "processes",
  "memory_bytes",
  "cpu_ms",
  "read_bytes",
  "written_bytes",
] as const;
/**
 * After this many samples the interval doubles, so that a file grows more and more slowly and need not be rewritten.
 */
const SAMPLES_PER_INTERVAL = 1_000;

/** Records the resource use of one attempt's processes at intervals, as lines of CSV. */
export class UsageSampler {
  private fd: number | null = null;
  private samples = 0;
  private cancel: () => void = () => {};
  private isOver = false;
  private readonly startedAt: number;

  constructor(
    private readonly clock: TimerPort,
    private readonly token: string,
    private readonly file: string,
    private intervalMs: number,
    private readonly look: typeof usageOfToken = usageOfToken,
  ) {
    this.startedAt = clock.elapsed();
    this.wait();
  }

  /** Null if no samples are wanted. */
  static of(
    clock: TimerPort,
    { token, sampleEveryMs }: Pick<Assignment, "token" | "sampleEveryMs">,
    file: string,
  ): UsageSampler | null {
    return sampleEveryMs === undefined ? null : new UsageSampler(clock, token, file, sampleEveryMs);
  }

  clear(): void {
    this.isOver = true;
    this.cancel();
    if (this.fd !== null) closeSync(this.fd);
    this.fd = null;
  }

  private wait(): void {
    this.cancel = this.clock.after(this.intervalMs, () => void this.sample());
  }

  private async sample(): Promise<void> {
    const ms = Math.round(this.clock.elapsed() - this.startedAt);
    // If it cannot be read now, the next sample comes later.
    const used = await this.look(this.token).catch(() => null);
    if (this.isOver) return;
    if (used !== null && used.processes > 0) {
      const { processes, memoryBytes, cpuMs, readBytes, writtenBytes } = used;
      if (!this.write([ms, processes, memoryBytes, cpuMs, readBytes, writtenBytes])) return;
      this.samples += 1;
      if (this.samples % SAMPLES_PER_INTERVAL === 0) this.intervalMs *= 2;
    }
    this.wait();
  }

  /** Returns false if there is no room on the disk. The attempt continues without samples. */
  private write(values: readonly number[]): boolean {
    try {
      if (this.fd === null) {
        mkdirSync(dirname(this.file), { recursive: true, mode: 0o700 });
        this.fd = openSync(this.file, "w", 0o600);
        writeSync(this.fd, `${SAMPLE_COLUMNS.join(",")}\n`);
      }
      writeSync(this.fd, `${values.join(",")}\n`);
      return true;
    } catch {
      this.clear();
      return false;
    }
  }
}
