import { endProcesses } from "./attempt-processes.js";
import { LEFTOVER_GRACE_MS } from "./group-ending.js";

/** A step says with this variable that a process of its is to outlive the run. */
const KEPT = "DARUMA_KEEP=1";

/** A run that is over on this machine. */
export interface EndedRun {
  readonly runId: number;
  /** What its attempts did: some kinds of steps start no process. */
  readonly actions: ReadonlySet<string>;
  /** Whether the attempt was one of the run when it ended: it may have been reopened since. */
  readonly had: (jobId: number, attempt: number) => boolean;
}

/**
 * Ends what attempts left behind in groups of its own once their run is over. One search serves all runs that have
 * ended since the last: to look at every process costs more than to end a run.
 */
export class RunLeftovers {
  private ended: EndedRun[] = [];
  private sweeping: Promise<void> | null = null;

  constructor(private readonly outputFolder: string) {}

  end(run: EndedRun, actions: ReadonlyMap<string, { readonly silent?: boolean }>): void {
    if ([...run.actions].every((type) => actions.get(type)?.silent === true)) return;
    this.ended.push(run);
    this.sweeping ??= this.sweep().finally(() => {
      this.sweeping = null;
    });
  }

  /** Resolves when no search is under way. */
  async settled(): Promise<void> {
    while (this.sweeping !== null) await this.sweeping;
  }

  private async sweep(): Promise<void> {
    while (this.ended.length > 0) {
      const runs = new Map(this.ended.map((run) => [String(run.runId), run]));
      this.ended = [];
      const where = (environment: readonly string[]): boolean => isLeftBy(runs, environment);
      const variable = `DARUMA_OUTPUT_DIR=${this.outputFolder}`;
      // The run has ended, whatever becomes of this.
      await endProcesses({ variable, where }, LEFTOVER_GRACE_MS).catch(() => {});
    }
  }
}

function isLeftBy(runs: ReadonlyMap<string, EndedRun>, environment: readonly string[]): boolean {
  if (environment.includes(KEPT)) return false;
  const read = (name: string): string | undefined =>
    environment.find((variable) => variable.startsWith(`${name}=`))?.slice(name.length + 1);
  if (read("DARUMA_ATTEMPT_TOKEN") === undefined) return false;
  const run = runs.get(read("DARUMA_RUN_ID") ?? "");
  return run?.had(Number(read("DARUMA_JOB_ID")), Number(read("DARUMA_ATTEMPT_ID"))) ?? false;
}
