import type { OperatorCommand } from "../../core/model/commands.js";
import type { LoggedEvent } from "../../core/model/events.js";
import { MAP, WAIT } from "../../core/model/flow.js";
import type { Job, Run } from "../../core/model/run.js";
import { type Json, toJson } from "../../core/text/json.js";
import type { Action } from "../../run/action/action.js";
import { functionAction } from "../../run/action/function-action.js";
import type { Assignment } from "../../run/worker.js";
import { type AnyFlow, type Flow, MAIN, type StepAttempt } from "../flow.js";
import { fitted } from "../standard-schema.js";
import { AwaitedSandbox } from "./awaited-sandbox.js";
import { FlowStage } from "./flow-stage.js";
import { UnmockedWorker } from "./unmocked-worker.js";

/** How long a function may take that waits for something real, such as a file, before time passes for it. */
const PATIENCE_MS = 1_000;
/** Timers that may fire without anything being committed before a run counts as hanging. */
const MAX_IDLE_TURNS = 500;
/** Nobody else is there: a lease need not be renewed while weeks pass. */
const LEASE_MS = 10 * 365 * 86_400_000;
const INJECTED = "INJECTED";

export interface TestOptions<Input> {
  readonly input?: Input;
}

export interface InjectedFailure {
  /** By default `INJECTED`. */
  readonly code?: string;
  readonly message?: string;
  /** How many attempts fail; by default each. */
  readonly times?: number;
}

export interface HeldStep {
  readonly step: string;
  readonly scope: string;
  readonly code: string;
  readonly message: string;
}

/** How a run stands once nothing happens any more without a person. */
export interface TestResult<Output> {
  readonly status: Run["status"];
  /** What the program has returned; undefined: it has not. */
  readonly output: Output | undefined;
  readonly error: { readonly step: string; readonly code: string; readonly message: string } | null;
  readonly held: readonly HeldStep[];
  /** How often a step was executed, in all processes and in all items. */
  calls(step: string): number;
  /** The rungs that its failures have taken, in order, such as `retry`. */
  climbed(step: string): string[];
}

type Resolution = "retry" | "skip" | "fail" | "complete";
type Mock = (attempt: StepAttempt) => unknown;

/** A flow under test: the real engine on a store in memory, with a clock that goes on by itself. */
export interface FlowTest<Output> {
  /** Attempts of this step fail, before the function is called. `pack` means `pack#2` as well, and each item's. */
  fail(step: string, failure?: InjectedFailure): this;
  /** Called instead of the step's function, command or other action. */
  mock(step: string, instead: Mock): this;
  /** What people choose, one question after the other. */
  answer(step: string, ...choices: readonly [string, ...string[]]): this;
  /** The process dies right after the outcome of this step is on record, and another one goes on. */
  crashAfter(step: string): this;
  /** The program that every later process has. */
  edit(flow: AnyFlow): this;
  /** A person decides a held step. */
  resolve(step: string, action: Resolution, output?: Json): Promise<this>;
  /** Starts the run, or goes on with it in another process, until it is over or waits for a person. */
  run(): Promise<TestResult<Output>>;
}

export interface FailureRow {
  readonly step: string;
  /** `caught`: the run completed all the same. */
  readonly end: "caught" | "held" | "failed" | "canceled";
  /** Where it ended: the step that is held, or that the run failed of. */
  readonly at: string | null;
  readonly climbed: readonly string[];
}

export interface EveryOptions<Input, Output> extends TestOptions<Input> {
  /** Called with each test before it runs: mocks and answers. */
  readonly prepare?: (test: FlowTest<Output>) => void;
}

class TestedFlow<Output> implements FlowTest<Output> {
  private readonly mocks = new Map<string, Mock>();
  private readonly failures = new Map<string, { readonly failure: InjectedFailure; left: number }>();
  private readonly answers = new Map<string, string[]>();
  private readonly crashes = new Set<string>();
  private readonly log: LoggedEvent[] = [];
  private readonly executed: { readonly job: number; readonly step: string; readonly after: number }[] = [];
  private readonly sandbox = new AwaitedSandbox();
  private readonly stage: FlowStage;
  private commits = 0;
  /** The process dies with so manieth a commit. */
  crashAt = 0;
  private isBegun = false;

  constructor(
    private flow: AnyFlow,
    private readonly input: unknown,
  ) {
    this.stage = new FlowStage(flow, {
      sandbox: this.sandbox,
      leaseMs: LEASE_MS,
      others: () => new UnmockedWorker(),
      insteadOf: (assignment) => this.insteadOf(assignment),
      onCommit: (run, events) => this.committed(run, events),
    });
  }

  fail(step: string, failure: InjectedFailure = {}): this {
    this.failures.set(step, { failure, left: failure.times ?? Number.POSITIVE_INFINITY });
    return this;
  }

  mock(step: string, instead: Mock): this {
    this.mocks.set(step, instead);
    return this;
  }

  answer(step: string, ...choices: readonly [string, ...string[]]): this {
    this.answers.set(step, [...choices]);
    return this;
  }

  crashAfter(step: string): this {
    this.crashes.add(step);
    return this;
  }

  edit(flow: AnyFlow): this {
    this.flow = flow;
    return this;
  }

  async resolve(step: string, action: Resolution, output?: Json): Promise<this> {
    const { jobs } = await this.stage.state();
    const job = jobs.find((each) => each.status === "held" && isNamed(each.step.definition.id, step));
    if (job === undefined)
      throw new Error(
        `${step} is not held: ${
          heldOf(jobs)
            .map((held) => held.step)
            .join(", ") || "nothing is"
        }`,
      );
    const value = output === undefined ? null : ({ kind: "value", value: output } as const);
    await this.say({ type: "holds.resolve", items: [{ job: job.id, action, output: value, items: null }] });
    return this;
  }

  async run(): Promise<TestResult<Output>> {
    const { stage } = this;
    if (this.isBegun) await stage.resume(this.flow);
    else await this.begin();
    this.isBegun = true;
    let idle = 0;
    for (;;) {
      await this.settle();
      if (stage.phase === "dead") {
        await stage.resume(this.flow);
        continue;
      }
      if (stage.phase !== "running") break;
      if (await this.answerOne()) continue;
      const before = this.commits;
      const fired = stage.clock.fireNext();
      idle = this.commits > before ? 0 : idle + 1;
      if (!fired || idle > MAX_IDLE_TURNS) throw new Error(await this.whyItHangs());
    }
    await this.sandbox.close();
    return this.result();
  }

  /** Steps with a failure to inject, by name and in the order of their calls. */
  async called(): Promise<string[]> {
    const { jobs } = await this.stage.state();
    const called = jobs.filter(({ call, step }) => {
      const { type } = step.definition.action;
      return call !== null && type !== WAIT && type !== MAP && type !== "human";
    });
    return [...new Set(called.map(({ step }) => step.definition.id))];
  }

  /** Whether a process died, and what was executed again although its outcome was on record. */
  get executedTwice(): string | null {
    const again = this.executed.find(({ job, after }) =>
      this.log.slice(0, after).some(({ event }) => event.type === "attempt.succeeded" && event.job === job),
    );
    return again?.step ?? null;
  }

  get didCrash(): boolean {
    return this.crashAt > 0 && this.commits >= this.crashAt;
  }

  /** What the last event on record says when the process died. */
  get lastCommitted(): string {
    return this.log.at(-1)?.event.type ?? "nothing";
  }

  private async begin(): Promise<void> {
    const input = this.input === undefined ? null : toJson(this.input, "input");
    const { input: schema } = this.flow.options;
    if (schema !== undefined)
      await fitted(schema as never, structuredClone(input), { name: "input", code: "INVALID_INPUT" });
    await this.stage.start(input);
  }

  private async settle(): Promise<void> {
    await this.stage.settle();
    await this.stage.awaitFunctions(PATIENCE_MS);
    while (await this.sandbox.idle()) await this.stage.settle();
  }

  private insteadOf(assignment: Assignment): Action | null {
    const { stepId, action, runId, jobId } = assignment;
    if (action.type.startsWith("flow:") || action.type === "human") return null;
    this.executed.push({ job: jobId, step: stepId, after: this.log.length });
    const injected = named(this.failures, stepId);
    if (injected !== null && injected.left > 0) {
      injected.left -= 1;
      const { code = INJECTED, message = `${stepId} fails because the test says so` } = injected.failure;
      return functionAction(action.type, () => {
        throw Object.assign(new Error(message), { code });
      });
    }
    const mock = named(this.mocks, stepId);
    if (mock === null) return null;
    const key = `${runId}/${stepId}`;
    return functionAction(
      action.type,
      ({ signal, attempt, log }) => mock({ signal, attempt, log, key }) as Json,
    );
  }

  private committed(run: Run, events: readonly LoggedEvent[]): void {
    this.log.push(...events);
    this.commits += 1;
    const ended = events.flatMap(({ event }) => {
      if (event.type !== "attempt.succeeded" && event.type !== "job.failed") return [];
      return run.jobs.find(({ id }) => id === event.job)?.step.definition.id ?? [];
    });
    const met = [...this.crashes].find((step) => ended.some((id) => isNamed(id, step)));
    if (met !== undefined) this.crashes.delete(met);
    if (met !== undefined || this.commits === this.crashAt) this.stage.kill();
  }

  private async answerOne(): Promise<boolean> {
    const { jobs } = await this.stage.state();
    for (const job of jobs) {
      if (job.question === null || job.status !== "waiting") continue;
      const choice = named(this.answers, job.step.definition.id)?.shift();
      if (choice === undefined) continue;
      await this.say({ type: "human.answer", job: job.id, choice, text: "" });
      return true;
    }
    return false;
  }

  private async say(wish: object): Promise<void> {
    const command = { reason: "the test says so", key: null, ...wish } as OperatorCommand;
    const refused = await this.stage.say(command);
    if (refused !== null) throw new Error(`${command.type} is refused: ${refused}`);
  }

  private async whyItHangs(): Promise<string> {
    const { jobs } = await this.stage.state();
    const asking = jobs.find(({ question, status }) => question !== null && status === "waiting");
    if (asking === undefined)
      return "the program waits for nothing that it has called: it may only await what it was given";
    const { id } = asking.step.definition;
    return `${id} asks, and the test has no answer: t.answer(${JSON.stringify(id)}, CHOICE)`;
  }

  private async result(): Promise<TestResult<Output>> {
    const run = await this.stage.state();
    const row = (await this.stage.store.readRun(this.stage.runId))!;
    const main = run.jobs.find(({ call, step }) => call === null && step.definition.id === MAIN)!;
    const output = main.output?.kind === "value" ? main.output.value : null;
    const nameOf = new Map(run.jobs.map((job) => [job.id, job.step.definition.id]));
    const climbs = this.log.flatMap(({ event }) => (event.type === "ladder.climbed" ? [event] : []));
    return {
      status: row.status,
      output: row.status === "completed" ? (output as Output) : undefined,
      error:
        row.error === null
          ? null
          : { step: row.error.step_id ?? MAIN, code: row.error.code, message: row.error.message },
      held: heldOf(run.jobs),
      calls: (step) => this.executed.filter((each) => isNamed(each.step, step)).length,
      climbed: (step) =>
        climbs.flatMap(({ job, rung }) => (isNamed(nameOf.get(job) ?? "", step) ? [rung] : [])),
    };
  }
}

function heldOf(jobs: readonly Job[]): HeldStep[] {
  return jobs
    .filter(({ status }) => status === "held")
    .map(({ step, scope, failure }) => ({
      step: step.definition.id,
      scope: scope.id,
      code: failure?.code ?? "FAILED",
      message: failure?.message ?? "",
    }));
}

function isNamed(id: string, step: string): boolean {
  return id === step || id.replace(/#\d+$/, "") === step;
}

function named<T>(of: ReadonlyMap<string, T>, id: string): T | null {
  return of.get(id) ?? of.get(id.replace(/#\d+$/, "")) ?? null;
}

function test<Input, Output>(flow: Flow<Input, Output>, options: TestOptions<Input> = {}): FlowTest<Output> {
  return new TestedFlow<Output>(flow as AnyFlow, options.input);
}

function prepared<Input, Output>(flow: Flow<Input, Output>, { input, prepare }: EveryOptions<Input, Output>) {
  const tested = new TestedFlow<Output>(flow as AnyFlow, input);
  prepare?.(tested);
  return tested;
}

/** Throws unless the flow ends the same wherever its process dies, and nothing is executed again that is on record. */
async function everyCrash<Input, Output>(
  flow: Flow<Input, Output>,
  options: EveryOptions<Input, Output> = {},
): Promise<{ readonly crashes: number }> {
  const wanted = await prepared(flow, options).run();
  for (let commit = 1; ; commit += 1) {
    const tested = prepared(flow, options);
    tested.crashAt = commit;
    const end = await tested.run();
    if (!tested.didCrash) return { crashes: commit - 1 };
    const place = `with a process that died after commit ${commit}`;
    const again = tested.executedTwice;
    if (again !== null)
      throw new Error(`${again} was executed again although its outcome was on record, ${place}`);
    const [is, was] = [end, wanted].map(({ status, output }) => JSON.stringify({ status, output }));
    if (is !== was) throw new Error(`the run ended with ${is} instead of ${was}, ${place}`);
  }
}

/** What becomes of the run if a step fails for good: each step that a run without failures calls, one after the other. */
async function everyFailure<Input, Output>(
  flow: Flow<Input, Output>,
  options: EveryOptions<Input, Output> = {},
): Promise<FailureRow[]> {
  const clean = prepared(flow, options);
  await clean.run();
  const rows: FailureRow[] = [];
  for (const step of await clean.called()) {
    const { status, held, error, climbed } = await prepared(flow, options).fail(step).run();
    const end =
      status === "completed"
        ? "caught"
        : status === "held"
          ? "held"
          : status === "canceled"
            ? "canceled"
            : "failed";
    rows.push({ step, end, at: held[0]?.step ?? error?.step ?? null, climbed: climbed(step) });
  }
  return rows;
}

export const testFlow = Object.assign(test, { everyCrash, everyFailure });
