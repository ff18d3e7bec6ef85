import type { Command, HoldDecision } from "../../src/core/model/commands.js";
import type { Job, Run } from "../../src/core/model/run.js";
import { recoverable } from "../sim/operators.js";

/** A stream of small numbers from a list of choices: the list itself first, then a mix of it for ever. */
export class Chooser {
  private drawn = 0;

  constructor(private readonly choices: readonly number[]) {}

  below(limit: number): number {
    const choice = this.choices[this.drawn % this.choices.length] ?? 0;
    const round = Math.floor(this.drawn / Math.max(1, this.choices.length));
    this.drawn += 1;
    const mixed = Math.imul(choice + Math.imul(round, 0x9e3779b1), 0x85ebca6b) >>> 0;
    return (round === 0 ? choice : mixed >>> 7) % limit;
  }

  oneIn(count: number): boolean {
    return count > 0 && this.below(count) === 1 % count;
  }
}

/** Something that an operator may ask at any moment; often it does not apply, which must do no harm. */
export function meddle(run: Run, chooser: Chooser, key: string): Command {
  const job = run.jobs[chooser.below(run.jobs.length)]!.id;
  const reason = "test";
  switch (chooser.below(10)) {
    case 0:
      return { type: "run.pause", reason, key, takeover: chooser.below(2) === 0 };
    case 1:
      return { type: "run.unpause", reason, key };
    case 2:
      return { type: "run.reset", reason, key };
    case 3:
      return { type: "step.resume_from", job, reason, key, force: chooser.below(2) === 0 };
    case 8:
      return { type: "step.hard_reset", job, reason, key, force: chooser.below(2) === 0 };
    case 9:
      return { type: "step.redrive", job, reason, key };
    case 7:
      return { type: "jobs.recover", items: recoverable(run, chooser.below(2) === 0), reason, key };
    case 4:
      return { type: "holds.resolve", items: someHolds(run, chooser), reason, key };
    default: {
      const wrong = run.jobs.filter(({ status }) => ["failed", "canceled", "held"].includes(status));
      return { type: "step.retry", job: wrong[chooser.below(wrong.length)]?.id ?? job, reason, key };
    }
  }
}

/** A run that only a person can help on: paused, or nothing but holds left. */
export function wayOutOfRest(run: Run, chooser: Chooser): Command | null {
  if (run.paused !== null) return { type: "run.unpause", reason: "test", key: null };
  if (run.status !== "held") return null;
  const overdue = [...run.held].find(({ dueAt }) => dueAt !== null);
  if (overdue !== undefined && chooser.below(2) === 0)
    return { type: "timer.fire", job: overdue.id, dueAt: overdue.dueAt! };
  const items = someHolds(run, chooser);
  return items.length === 0 ? null : { type: "holds.resolve", items, reason: "test", key: null };
}

function someHolds(run: Run, chooser: Chooser): HoldDecision[] {
  const held = [...run.held];
  if (held.length === 0) return [];
  const first = chooser.below(held.length);
  return held.slice(first, first + 1 + chooser.below(2)).map((job) => decideHold(job, chooser));
}

function decideHold(job: Job, chooser: Chooser): HoldDecision {
  const action = (["fail", "retry", "skip", "complete", "fail"] as const)[chooser.below(5)]!;
  const value = job.step.definition.forEach ? ["a", "b"] : null;
  return {
    job: job.id,
    action,
    output: action === "complete" ? { kind: "value", value } : null,
    items: action === "complete" && value !== null ? value.map((key) => ({ key })) : null,
  };
}
