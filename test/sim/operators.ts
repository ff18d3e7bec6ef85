import { refusalOf } from "../../src/core/decide/operator.js";
import { diagnose } from "../../src/core/failure/diagnose.js";
import type { HoldDecision, OperatorCommand, RecoveredJob } from "../../src/core/model/commands.js";
import { amountsOf } from "../../src/core/model/resources.js";
import type { Job, Run } from "../../src/core/model/run.js";
import type { Random } from "./random.js";

/** What `recover_run` would ask for; the core must never refuse that. */
export function recoverable(run: Run, retryUnknown: boolean): RecoveredJob[] {
  const scale = { memory: { factor: 1.5, max: 8 * 1024 ** 2 }, runtime: { factor: 1.4, max: null } };
  const items = diagnose(run, { scale, retryUnknown }).flatMap(({ job, recovers, raise }) =>
    recovers ? [{ job: job.id, ...(raise === null ? {} : { amounts: amountsOf([raise]) }) }] : [],
  );
  const refused = refusalOf(run, { type: "jobs.recover", items, reason: "", key: null });
  if (refused !== null && refused.code !== "RUN_OVER" && refused.code !== "RUN_UNDONE")
    throw new Error(`refused: ${refused.message}`);
  return items;
}

/** People who look at the run now and then, and what they come up with. */
export class Operators {
  private count = 0;

  /** `most`: so that a run ends although they keep sending it back. */
  constructor(
    private readonly random: Random,
    private readonly most: number,
  ) {}

  get areTired(): boolean {
    return this.count >= this.most;
  }

  /** Anything, whether it applies or not. */
  ask(run: Run): OperatorCommand {
    const { random } = this;
    const reason = "weather";
    const key = this.key();
    const wrong = run.jobs.filter(({ status }) => ["failed", "canceled", "held"].includes(status));
    const job = random.pick(wrong.length > 0 && random.chance(0.7) ? wrong : run.jobs).id;
    const hint = random.chance(0.3) ? { hint: `hint ${key}` } : {};
    const files = random.pick([{}, { files: "keep" }, { files: "restore" }] as const);
    return random.pick<OperatorCommand>([
      { type: "run.pause", reason, key, takeover: random.chance(0.3) },
      { type: "run.unpause", reason, key },
      { type: "run.reset", reason, key },
      { type: "step.retry", job, reason, key, ...hint },
      { type: "step.retry", job, reason, key, force: random.chance(0.3), ...hint },
      { type: "step.retry", job, also: this.others(wrong, job), reason, key },
      { type: "step.resume_from", job, reason, key, force: random.chance(0.5), ...files, ...hint },
      { type: "step.hard_reset", job, reason, key, force: random.chance(0.5) },
      { type: "step.redrive", job, reason, key },
      { type: "holds.resolve", items: this.decideHolds(run), reason, key },
      { type: "jobs.recover", items: recoverable(run, random.chance(0.5)), reason, key },
    ]);
  }

  /** What lets a held run go on. */
  resolve(run: Run): OperatorCommand {
    return { type: "holds.resolve", items: this.decideHolds(run), reason: "rest", key: this.key() };
  }

  answer(job: Job): OperatorCommand {
    const choice = this.random.chance(0.3) ? "reject" : "approve";
    return { type: "human.answer", job: job.id, choice, text: "", key: this.key() };
  }

  private others(wrong: readonly Job[], job: number): number[] {
    return wrong.flatMap(({ id }) => (id !== job && this.random.chance(0.5) ? [id] : []));
  }

  private key(): string {
    this.count += 1;
    return `key-${this.count}`;
  }

  private decideHolds(run: Run): HoldDecision[] {
    const held = [...run.held];
    const chosen = this.random.chance(0.5) ? held : held.slice(0, 1);
    return chosen.map((job) => this.decideHold(job));
  }

  /** Tired people give up. */
  private decideHold(job: Job): HoldDecision {
    const action = this.areTired ? "fail" : this.random.pick(["retry", "fail", "skip", "complete"] as const);
    const value = job.step.definition.forEach ? ["a", "b"] : null;
    return {
      job: job.id,
      action,
      output: action === "complete" ? { kind: "value", value } : null,
      items: action === "complete" && value !== null ? value.map((key) => ({ key })) : null,
    };
  }
}
