import { existsSync } from "node:fs";
import { type AttemptName, logFile, runLogFolder } from "../attempt-paths.js";

/** Of so many runs it is known whether their folder was there before. */
const MAX_KNOWN_RUNS = 1_000;

/**
 * Where logs of an earlier database may lie, whose runs had the same numbers: they would pass for what an attempt printed.
 * Looked at once for each run, not for each attempt. A folder that was not there has only logs of this worker since.
 */
export class EarlierLogs {
  private readonly hadFolder = new Map<number, boolean>();

  constructor(private readonly base: string) {}

  /** Paths at which a log of the attempt may lie already. */
  of(name: AttemptName, stream: "stdout" | "stderr"): string[] {
    return this.hadFolderOf(name.runId) ? [logFile(this.base, name, stream)] : [];
  }

  private hadFolderOf(runId: number): boolean {
    const known = this.hadFolder.get(runId);
    if (known !== undefined) return known;
    const had = existsSync(runLogFolder(this.base, runId));
    if (this.hadFolder.size >= MAX_KNOWN_RUNS) this.hadFolder.clear();
    this.hadFolder.set(runId, had);
    return had;
  }
}
