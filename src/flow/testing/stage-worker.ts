import type { Outcome } from "../../core/model/outcome.js";
import type { Json } from "../../core/text/json.js";
import type { Action, Attempt } from "../../run/action/action.js";
import type { Clock } from "../../run/engine/clock.js";
import type { Assignment, Ended, Needs, Seat, Worker } from "../../run/worker.js";

/** A process of the stage. Nothing of one that is over is heard of again. */
export interface Life {
  isOver: boolean;
}

/** Executes programs and their functions as a process with the real host does, and leaves all else to another worker. */
export class StageWorker implements Worker {
  readonly name = "local-1";
  private readonly actions = new Map<string, Action>();

  constructor(
    private readonly life: Life,
    private readonly clock: Clock,
    private readonly others: Worker,
    /** What is executed instead; null: what was asked for. */
    private readonly insteadOf: (assignment: Assignment) => Action | null,
    /** Called with what must have ended before time passes. */
    private readonly begun: (work: Promise<unknown>, isProgram: boolean) => void,
  ) {}

  readonly add = (action: Action): void => void this.actions.set(action.type, action);

  place(needs: Needs): Seat | "full" | null {
    if (this.actions.has(needs.actionType)) return { worker: this.name };
    return needs.actionType.startsWith("flow:") ? null : this.others.place(needs);
  }

  release(place: Seat): void {
    if (place.worker !== this.name) this.others.release(place);
  }

  execute(assignment: Assignment, place: Seat | null, signal: AbortSignal, ended: Ended): void {
    if (this.life.isOver) return;
    const { type } = assignment.action;
    const action = this.insteadOf(assignment) ?? this.actions.get(type);
    if (action === undefined) return this.others.execute(assignment, place, signal, ended);
    const startedAt = this.clock.now();
    const controller = new AbortController();
    signal.addEventListener("abort", () => controller.abort("stopped"));
    const cancel =
      assignment.timeoutMs === null
        ? () => {}
        : this.clock.after(assignment.timeoutMs, () => controller.abort("timeout"));
    const attempt = { ...assignment, signal: controller.signal, writeStdout() {} } as unknown as Attempt;
    const work = action.run(attempt).then((outcome) => {
      cancel();
      ended({ ...recorded(outcome), duration_ms: this.clock.now() - startedAt });
    });
    this.begun(work, type.startsWith("flow:"));
  }

  adopt(): boolean {
    return false;
  }
  onRoom(): () => void {
    return () => {};
  }
  async endLeftovers(): Promise<void> {}
  async close(): Promise<void> {}
}

function recorded(outcome: Outcome<Json>): Outcome {
  if (outcome.kind === "succeeded") return { ...outcome, output: { kind: "value", value: outcome.output } };
  return outcome as Outcome;
}
