import { decide } from "../../src/core/decide/decide.js";
import { evolve } from "../../src/core/evolve/evolve.js";
import type { Command } from "../../src/core/model/commands.js";
import type { EvaluationResult, Event } from "../../src/core/model/events.js";
import { newRun } from "../../src/core/model/make-run.js";
import type { Outcome } from "../../src/core/model/outcome.js";
import type { Job, Run } from "../../src/core/model/run.js";
import type { Json } from "../../src/core/text/json.js";
import { loadDefinition } from "../../src/file/load.js";
import { PLAIN_OPTIONS } from "./drive.js";

/** A run on the bare core, moved by hand: what starts and ends, and when, is up to the test. */
export class Bench {
  readonly run: Run;
  readonly events: Event[] = [];
  private now = 1_000;

  constructor(text: string) {
    const loaded = loadDefinition(text, {
      file: "bench.yaml",
      checkExpression: () => null,
      checkTemplate: () => null,
    });
    if (!loaded.ok) throw new Error(loaded.problems.map(({ message }) => message).join("\n"));
    const created: Event = {
      type: "run.created",
      workflow: "bench",
      workflow_id: 1,
      definition_hash: "hash",
      inputs: {},
      context: {},
      options: PLAIN_OPTIONS,
      folder: "/",
      file: null,
      parent: null,
      managed: false,
      failure_handlers: [],
    };
    this.run = newRun(1, loaded.definition, created, this.now);
    evolve(this.run, created, this.now);
    this.take({ type: "run.start" });
  }

  take(command: Command): readonly Event[] {
    this.now += 1;
    const events = decide(this.run, command, this.now);
    this.events.push(...events);
    return events;
  }

  /** A job by its step, or `step[1]` for an item of the only fan-out. */
  job(name: string): Job {
    const [step, index] = name.replace("]", "").split("[");
    const found = this.run.jobs.find(
      (job) =>
        job.step.definition.id === step &&
        (job.scope.item?.index ?? null) === (index === undefined ? null : Number(index)),
    );
    if (found === undefined) throw new Error(`no job ${name}`);
    return found;
  }

  status(...names: string[]): string[] {
    return names.map((name) => this.job(name).status);
  }

  start(...names: string[]): void {
    for (const name of names)
      this.take({ type: "attempt.start", job: this.job(name).id, worker: "w", token: "t" });
  }

  finish(name: string, outcome: Outcome): void {
    const job = this.job(name);
    this.take({
      type: "attempt.finish",
      job: job.id,
      attempt: job.attempt,
      outcome: { duration_ms: 1, ...outcome },
    });
  }

  succeed(name: string, value: Json = null): void {
    const items = Array.isArray(value) ? value.map((key) => ({ key: String(key) })) : null;
    this.finish(name, { kind: "succeeded", output: { kind: "value", value }, items });
  }

  fail(name: string): void {
    this.finish(name, { kind: "failed", facts: { message: "exit code 1", exitCode: 1 } });
  }

  stop(name: string): void {
    this.finish(name, { kind: "stopped" });
  }

  answer(name: string, result: EvaluationResult): void {
    const job = this.job(name);
    this.take({ type: "evaluation.finish", job: job.id, id: job.evaluation!.id, result });
  }

  /** Start and complete a step at once. */
  complete(...names: string[]): void {
    for (const name of names) {
      this.start(name);
      this.succeed(name);
    }
  }
}
