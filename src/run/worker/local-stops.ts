import { type Outcome, stoppedAs } from "../../core/model/outcome.js";
import type { ProcessHost } from "../process/process-host.js";
import type { Assignment } from "../worker.js";
import type { TimerPort } from "./attempt-timers.js";
import { readAllocation } from "./machine/allocation-environment.js";
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
