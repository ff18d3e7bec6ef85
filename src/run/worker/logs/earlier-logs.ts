import { existsSync } from "node:fs";
import { type AttemptName, logFile, runLogFolder } from "../attempt-paths.js";

/** For how many runs it is remembered whether their folder already existed. */
const MAX_KNOWN_RUNS = 1_000;

/**
 * Finds logs of an earlier database whose runs had the same numbers, so that they are not mistaken for an attempt's
 * output. The check is made once per run, not per attempt: a folder that did not exist contains only logs of this
 * worker.
 */
export class EarlierLogs {
  private readonly hadFolder = new Map<number, boolean>();

  constructor(private readonly base: string) {}

  /** Paths where an old log may exist. */
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
