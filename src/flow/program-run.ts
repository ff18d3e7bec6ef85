import { calledBefore } from "../core/decide/flow.js";
import type { LoggedEvent, Output } from "../core/model/events.js";
import { callsOf, isRecorded } from "../core/model/flow.js";
import type { Outcome } from "../core/model/outcome.js";
import { isSettled, type Job, jobById, type Run, type Scope } from "../core/model/run.js";
import { type Json, toJson } from "../core/text/json.js";
import { type Attempt, stoppedResult } from "../run/action/action.js";
import { callSite, occurrence } from "./call-names.js";
import type { Declaration, Declarations } from "./declaration.js";
import { difference, factsOf, nameInUse, otherKind, rejected } from "./differences.js";
import type { AnyFlow, Lineage, StepAttempt } from "./flow.js";
import { FlowCanceled, StepFailed } from "./flow-errors.js";
import type { ProgramPorts } from "./program-ports.js";
import { fitted } from "./standard-schema.js";
import { stepsIn } from "./steps-of.js";

export type AnyFunction = (attempt: StepAttempt) => unknown;

/** What a call asks for. */
export interface Asked extends Lineage {
  readonly name: string;
  readonly scope: Scope;
  /** Its definition under the name that it has in the run. */
  readonly declaration: (id: string) => Declaration;
  readonly run?: AnyFunction;
  /** Functions among its repairs, by their names in the run. */
  readonly repairs?: (id: string) => ReadonlyMap<string, AnyFunction>;
  /** For a map: the keys of its items. */
  readonly items?: readonly string[];
}

interface Call {
  readonly id: string;
  readonly asked: Asked;
  readonly source: string | null;
  readonly repairs: ReadonlyMap<string, AnyFunction>;
  /** The record need not know it. */
  mayBeNew: boolean;
  job: Job | null;
  isSettled: boolean;
  resolve(output: Json): void;
  reject(error: unknown): void;
}

interface Told {
  readonly job: Job;
  readonly at: number;
  readonly settle: (call: Call) => void;
}

/** One attempt of a program: what it has called, and which outcomes it has received. */
export class ProgramRun {
  readonly declarations: Declarations = new Map();
  private readonly calls = new Map<string, Call>();
  private readonly byJob = new Map<number, Call>();
  private readonly counts = new Map<string, number>();
  /** What earlier attempts have called, by scope and name, and what of it this one has not. */
  private readonly recorded = new Map<string, Job>();
  private readonly uncalled = new Set<Job>();
  /** Outcomes that the program has not been given yet, by their number. */
  private readonly outcomes = new Map<number, Told>();
  private readonly lastRecorded: number;
  private fresh: Call[] = [];
  private given = 0;
  /** When the last of them came. */
  clockAt: number;
  private isPumping = false;
  private hasTold = false;
  private stopLingering: (() => void) | null = null;
  private isOver = false;
  private end: (outcome: Outcome<Json>) => void = () => {};
  private canceled: FlowCanceled | null = null;
  private readonly cancellation = new AbortController();

  constructor(
    readonly run: Run,
    readonly main: Job,
    readonly flow: AnyFlow,
    readonly attempt: Attempt,
    private readonly ports: ProgramPorts,
  ) {
    this.clockAt = run.startedAt ?? run.createdAt;
    for (const job of callsOf(run, main)) {
      this.recorded.set(keyOf(job.scope, job.step.definition.id), job);
      if (!isRecorded(job)) continue;
      this.uncalled.add(job);
      if (isSettled(job.status))
        this.hearOf(job, job.call!.settledAt, (call) => settleAsRecorded(this, call, job));
    }
    this.lastRecorded = Math.max(0, ...this.outcomes.keys());
  }

  /** Something is still to happen here without anybody doing anything. */
  get isActive(): boolean {
    return this.isPumping;
  }

  get isReplaying(): boolean {
    return this.uncalled.size > 0 || this.given < this.lastRecorded;
  }

  get signal(): AbortSignal {
    return this.cancellation.signal;
  }

  /** The function of a job that this program has called, or of one that repairs such a job. */
  functionOf(job: Job): AnyFunction | null {
    const call = this.byJob.get(job.id);
    if (call !== undefined) return call.asked.run ?? null;
    const source = job.visitFor?.by;
    const repairs = source === undefined ? undefined : this.byJob.get(source.id)?.repairs;
    return repairs?.get(job.step.definition.id) ?? null;
  }

  execute(): Promise<Outcome<Json>> {
    return new Promise((resolve) => {
      this.end = (outcome) => {
        if (this.isOver) return;
        this.isOver = true;
        this.stopLingering?.();
        resolve(outcome);
      };
      if (this.attempt.signal.aborted) return this.stop();
      this.attempt.signal.addEventListener("abort", () => this.stop(), { once: true });
      void this.begin().then(
        (output) => this.end({ kind: "succeeded", output }),
        (error: unknown) => this.failed(error),
      );
      this.schedule();
    });
  }

  private async begin(): Promise<Json> {
    const { flow, run } = this;
    const { input: schema, output: outputSchema } = flow.options;
    const given = run.inputs.input ?? null;
    const input =
      schema === undefined
        ? structuredClone(given)
        : await fitted(schema as never, structuredClone(given), { name: "input", code: "INVALID_INPUT" });
    const output = await flow.program(stepsIn(this, run.root), input as never);
    const fit =
      outputSchema === undefined
        ? output
        : await fitted(outputSchema as never, output, { name: "output", code: "OUTPUT_INVALID" });
    for (const { step, status } of this.uncalled)
      this.log(`not called any more: ${step.definition.id} (${status})`);
    return toJson(fit ?? null, "output");
  }

  private failed(error: unknown): void {
    this.end(this.canceled === null ? { kind: "failed", facts: factsOf(error) } : { kind: "stopped" });
  }

  /** A canceled program receives an error and may tidy up. Any other end is silent. */
  private stop(): void {
    const outcome = stoppedResult(this.attempt);
    const { cancelRequested } = this.run;
    if (cancelRequested === null || outcome.kind !== "stopped") return this.end(outcome);
    this.canceled = new FlowCanceled(cancelRequested.reason);
    this.cancellation.abort(this.canceled);
    for (const call of this.calls.values()) if (!call.isSettled) call.reject(this.canceled);
    this.ports.clock.after(this.attempt.killGraceMs, () => this.end(outcome));
  }

  log(text: string): void {
    if (!this.isReplaying) this.attempt.writeStdout(Buffer.from(`${text}\n`));
  }

  /** What others have decided or done is committed. */
  hear(events: readonly LoggedEvent[]): void {
    if (this.isOver) return;
    for (const { event, at } of events) {
      switch (event.type) {
        case "attempt.succeeded":
        case "job.given":
        case "job.reused":
          this.settled(event.job, at, (call) => call.resolve(this.valueOf(event.output)));
          break;
        case "job.failed": {
          const { handled } = event;
          this.settled(event.job, at, (call, job) =>
            handled === null ? call.reject(this.failureOf(job)) : call.resolve(null),
          );
          break;
        }
        case "hold.resolved":
          if (event.action === "complete" || event.action === "skip")
            this.settled(event.job, at, (call) =>
              call.resolve(event.output === null ? null : this.valueOf(event.output)),
            );
          break;
        default:
          break;
      }
    }
    this.schedule();
  }

  private settled(id: number, at: number, settle: (call: Call, job: Job) => void): void {
    const job = jobById(this.run, id);
    if (job.call?.by === this.main) this.hearOf(job, at, (call) => settle(call, job));
  }

  private hearOf(job: Job, at: number, settle: Told["settle"]): void {
    const number = job.call!.outcome;
    if (number > this.given) this.outcomes.set(number, { job, at, settle });
  }

  /** After each outcome the program has its say before it is given the next: so it calls the same, knowing the same. */
  private schedule(): void {
    if (this.isPumping || this.isOver) return;
    this.isPumping = true;
    const pump = (): void => {
      this.isPumping = false;
      if (!this.isOver && this.canceled === null) this.pump();
    };
    if (this.isReplaying || this.hasTold) setImmediate(pump);
    else queueMicrotask(pump);
  }

  private pump(): void {
    this.hasTold = false;
    if (this.fresh.length > 0 && !this.declareFresh()) return;
    const next = this.nextOutcome();
    if (next === null) return this.considerResting();
    const [number, { job, at, settle }] = next;
    const call = this.byJob.get(job.id)!;
    this.outcomes.delete(number);
    this.given = Math.max(this.given, number);
    this.clockAt = Math.max(this.clockAt, at);
    call.isSettled = true;
    settle(call);
    this.hasTold = true;
    this.schedule();
  }

  /** The first by number whose step the program has called. */
  private nextOutcome(): readonly [number, Told] | null {
    let first: readonly [number, Told] | null = null;
    for (const outcome of this.outcomes)
      if (this.byJob.has(outcome[1].job.id) && (first === null || outcome[0] < first[0])) first = outcome;
    return first;
  }

  /** False: the program does not call what it called before, and nothing new of it is begun. */
  private declareFresh(): boolean {
    const { fresh } = this;
    this.fresh = [];
    const missing = [...this.uncalled].filter(({ call, scope }) => call!.after === this.given && scope.open);
    const unexpected = fresh.filter(({ mayBeNew }) => !mayBeNew);
    if (missing.length > 0 && unexpected.length > 0 && this.flow.options.changes !== "by_name") {
      this.changed(difference(missing[0]!, unexpected[0]!));
      return false;
    }
    for (const call of fresh) this.declare(call);
    return true;
  }

  private changed(message: string): void {
    this.end({
      kind: "failed",
      facts: { message, declared: { code: "FLOW_CHANGED", retryable: false } },
    });
  }

  private declare(call: Call): void {
    const { run, main, attempt } = this;
    const { asked, id, source } = call;
    this.ports.call(run.id, {
      type: "step.declare",
      by: main.id,
      attempt: attempt.attempt,
      scope: asked.scope.id,
      step: id,
      ...asked.declaration(id),
      ...(asked.items === undefined ? {} : { items: asked.items }),
      after: this.given,
      source,
    });
    const job = calledBefore(run, asked.scope, id);
    // Nobody wants the run any more, or this attempt of it.
    if (job !== null) this.enter(call, job);
  }

  private enter(call: Call, job: Job): void {
    call.job = job;
    this.byJob.set(job.id, call);
    this.uncalled.delete(job);
  }

  /** All that it waits for waits itself, for a person or a time: it need not be in memory. */
  private considerResting(): void {
    if (this.restingJobs() === null) {
      this.stopLingering?.();
      this.stopLingering = null;
      return;
    }
    this.stopLingering ??= this.ports.clock.after(this.ports.lingerMs, () => {
      this.stopLingering = null;
      const jobs = this.restingJobs();
      if (jobs !== null) this.end({ kind: "suspended", awaits: jobs.map(({ id }) => id) });
    });
  }

  private restingJobs(): Job[] | null {
    const open = [...this.calls.values()].filter((call) => !call.isSettled);
    if (open.length === 0 || this.fresh.length > 0 || this.outcomes.size > 0 || this.isPumping) return null;
    const jobs = open.map(({ job }) => job);
    return jobs.every((job): job is Job => job !== null && this.rests(job)) ? jobs : null;
  }

  private rests({ status, dueAt }: Job): boolean {
    if (status === "held" || status === "blocked") return true;
    if (status === "ready") return this.run.paused !== null;
    return status === "waiting" && (dueAt === null || dueAt - this.ports.clock.now() > this.ports.lingerMs);
  }

  call(asked: Asked): Promise<Json> {
    const { name, scope, was } = asked;
    if (this.canceled !== null) return rejected(this.canceled);
    const counted = keyOf(scope, name);
    const n = (this.counts.get(counted) ?? 0) + 1;
    const before = n === 1 ? undefined : this.calls.get(keyOf(scope, occurrence(name, n - 1)));
    if (before !== undefined && !before.isSettled) return rejected(nameInUse(name));
    this.counts.set(counted, n);
    const own = this.recorded.get(keyOf(scope, occurrence(name, n)));
    const job = own ?? (was === undefined ? undefined : this.recorded.get(keyOf(scope, occurrence(was, n))));
    const id = job?.step.definition.id ?? occurrence(name, n);
    let declaration: Declaration;
    try {
      declaration = asked.declaration(id);
    } catch (error) {
      return rejected(error);
    }
    let [resolve, reject]: [Call["resolve"], Call["reject"]] = [() => {}, () => {}];
    const promise = new Promise<Json>((...settle) => {
      [resolve, reject] = settle;
    });
    const call: Call = {
      id,
      asked: { ...asked, declaration: () => declaration },
      source: callSite(),
      repairs: asked.repairs?.(id) ?? NO_REPAIRS,
      mayBeNew: asked.added === true,
      job: null,
      isSettled: false,
      resolve,
      reject,
    };
    this.calls.set(keyOf(scope, occurrence(name, n)), call);
    this.take(call, job, declaration);
    this.schedule();
    // Awaited later, or never: no reason to end the process.
    promise.catch(() => {});
    return promise;
  }

  private take(call: Call, job: Job | undefined, { definition }: Declaration): void {
    // Where somebody has gone back to before it, it may be called again, or not.
    if (job !== undefined && !isRecorded(job)) call.mayBeNew = true;
    if (job === undefined || !isRecorded(job)) return void this.fresh.push(call);
    if (!isSettled(job.status)) this.declare(call);
    else {
      const now = (definition.action as { readonly type: string }).type;
      const was = job.step.definition.action.type;
      if (now !== was) return this.changed(otherKind(job, call, was, now));
      if (call.asked.items !== undefined) this.declare(call);
    }
    this.enter(call, job);
  }

  valueOf(output: Output): Json {
    return output.kind === "value" ? structuredClone(output.value) : this.ports.readArtifact(output.path);
  }

  failureOf({ step, scope, failure, attempt, id }: Job): StepFailed {
    return new StepFailed(step.definition.id, scope.id, failure, attempt, id, this.run.id);
  }
}

const NO_REPAIRS: ReadonlyMap<string, AnyFunction> = new Map();

function keyOf(scope: Scope, name: string): string {
  return `${scope.id} ${name}`;
}

function settleAsRecorded(program: ProgramRun, call: Call, job: Job): void {
  const { status, settledAs, output } = job;
  if (status === "failed" && settledAs !== "met") return call.reject(program.failureOf(job));
  call.resolve(status === "failed" || output === null ? null : program.valueOf(output));
}
