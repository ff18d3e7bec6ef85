import type { CommandOutcome } from "../core/decide/take-command.js";
import type { OperatorCommand } from "../core/model/commands.js";
import type { Job } from "../core/model/run.js";
import type { Store } from "../store/store.js";
import type { Role } from "./roles.js";
import type { StartOptions } from "./runs/start-options.js";
import type { Reading, Workflow } from "./workflows/workflow.js";

/** What the handlers of operations work with: a server's parts, or those of one command line. */
export interface Context extends Reading {
  readonly store: Store;
  /** Where logs and artifacts lie. */
  readonly outputDir: string;
  readonly principal: Principal;
  readonly now: () => number;
  /** Put a command to a run, whoever runs it; a refusal is thrown with its code. */
  readonly operate: (runId: number, command: OperatorCommand) => Promise<CommandOutcome>;
  /** Who starts and goes on with runs. Null where nothing stays to do so: a command line that looks into a store. */
  readonly runner: Runner | null;
  /** Called before a run comes into being at somebody's wish; throws TOO_MANY_RUNS. */
  readonly admitRun?: () => void;
}

export interface Principal {
  readonly name: string;
  readonly role: Role;
}

export interface Runner {
  /** The run is on record when this answers; it goes on by itself. */
  start(workflow: Workflow, options: StartOptions): Promise<number>;
  /** Go on with a run that nobody runs. */
  resume(runId: number, reason: string, key: string): Promise<void>;
  listWorkers(): readonly WorkerInfo[];
  /** One sentence: why a ready job has not begun. */
  whyNot(job: Job): string;
}

export interface WorkerInfo {
  readonly name: string;
  readonly slots: number;
  readonly used: number;
  readonly cpus: number;
  readonly memory_bytes: number | null;
  readonly tags: readonly string[];
  readonly node: string | null;
  readonly allocation: string | null;
  readonly restart: number | null;
  readonly draining: boolean;
  readonly leaves_at: number | null;
  readonly last_seen_at: number;
  readonly attempts: readonly { readonly job_id: number; readonly attempt: number }[];
}
