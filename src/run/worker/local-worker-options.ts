import { type Outcome, stoppedAs } from "../../core/model/outcome.js";
import type { Action } from "../action/action.js";
import type { ProcessHost } from "../process/process-host.js";
import type { Assignment } from "../worker.js";
import type { Workspaces } from "../workspace/workspace.js";
import type { TimerPort } from "./attempt-timers.js";
import { readAllocation } from "./machine/machine.js";
import type { Extent } from "./room.js";
import { StopWindow } from "./stop-window.js";

interface JudgedLocally {
  readonly assignment: Pick<Assignment, "resources">;
  /** Aborted when the engine stops, or when nobody wants the attempt any more. */
  readonly signal: AbortSignal;
  /** Called before a wait. */
  readonly giveRoom: () => void;
}

/**
 * Recognises attempts that ended with the allocation: a scheduler signals all processes in it, the steps first and the
 * engine a moment later.
 */
export class LocalStops {
  private readonly inAllocation: boolean;

  constructor(
    private readonly processes: Pick<ProcessHost, "stops">,
    private readonly clock: TimerPort,
    env: { readonly [name: string]: string | undefined },
  ) {
    this.inAllocation = readAllocation(env).allocation !== null;
  }

  /**
   * Returns the outcome, or that the engine's end has stopped the attempt. Outside of an allocation it does not wait.
   */
  async judge(outcome: Outcome, { assignment, signal, giveRoom }: JudgedLocally): Promise<Outcome> {
    const { processes, clock, inAllocation } = this;
    if (!inAllocation || outcome.exitedAt === undefined) return outcome;
    giveRoom();
    const window = new StopWindow({ drain: signal, end: signal, processes, inAllocation }, clock);
    const judged = await window.judge(outcome, (assignment.resources?.nodes ?? 1) > 1);
    return judged === outcome ? outcome : stoppedAs(outcome);
  }
}

export interface LocalWorkerOptions {
  /** A map may get further ones while the worker is at work. */
  readonly actions: readonly Action[] | ReadonlyMap<string, Action>;
  /** The folder for logs and artifacts. */
  readonly outputDir: string;
  readonly clock: TimerPort;
  /** The number of slots; by default the number of cores. 0 allows only steps that take none, such as child runs. */
  readonly maxParallel?: number;
  /** Other resources that steps may ask for. By default those of this machine, or of this process's part of it. */
  readonly machine?: Extent & { readonly nodes: number };
  /** Tags that steps with `runs_on` may ask for. */
  readonly tags?: readonly string[];
  readonly env?: { readonly [name: string]: string | undefined };
  /** The workspaces of runs whose files are in the same output folder. */
  readonly workspaces?: Workspaces;
  /**
   * The value of $DARUMA_API_URL; empty without a server. A function, because a server knows its address only once it
   * listens.
   */
  readonly apiUrl?: string | (() => string);
  /**
   * Recognises signals sent to steps and to this process alike. If it is missing, the receiver of reports does that.
   */
  readonly stops?: LocalStops;
  /** Tells people what the machine lacks while attempts wait for it. */
  readonly tell?: (text: string) => void;
}

/** Output of an attempt or its recovery script, redacted. */
export interface OutputPiece {
  readonly jobId: number;
  readonly step: string;
  readonly recovery: boolean;
  readonly stream: "stdout" | "stderr";
  /** Null at the end. */
  readonly bytes: Uint8Array | null;
}

export function actionsByType(actions: LocalWorkerOptions["actions"]): ReadonlyMap<string, Action> {
  return actions instanceof Map
    ? actions
    : new Map([...actions.values()].map((action) => [action.type, action]));
}
