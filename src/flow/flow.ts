import type { Definition } from "../core/model/definition.js";
import { programAction } from "../core/model/flow.js";
import type { Json } from "../core/text/json.js";
import type { StepInput, WorkflowInput } from "../file/builder.js";
import { defineWorkflow } from "../operations/workflows/define-workflow.js";
import type { SchemaInput, SchemaOutput, StandardSchema } from "./standard-schema.js";

/** A step's name, or a name with what tells it from others of that name: `["pack", item.sku]`. */
export type Name = string | readonly [string, ...(string | number)[]];

/** What a step's function is given. */
export interface StepAttempt {
  /** Counts from 1. */
  readonly attempt: number;
  /** Aborted when the attempt takes too long or is no longer wanted. */
  readonly signal: AbortSignal;
  /** The same in every attempt of this step in this run: an idempotency key for the service that is called. */
  readonly key: string;
  /** Writes a line to the attempt's log. */
  log(text: string): void;
}

type StepFunction<T> = (attempt: StepAttempt) => T | Promise<T>;

/** How a call stands to what an earlier version of the program had called. */
export interface Lineage {
  /** It was called this before: what is on record under that name is its own. */
  readonly was?: string;
  /** It is new: a run that is further on makes it all the same. */
  readonly added?: boolean;
}

/** How often it is tried again, or the whole of what the file says there. */
export type Retry = number | NonNullable<NonNullable<StepInput["on_fail"]>["retry"]>;
/** What a repair does: a function, or an action of the file. */
export type Repair = StepInput | ((attempt: StepAttempt) => unknown);

/** How the failures of a step are answered, in the words of the file. */
export type Policy = Lineage &
  Pick<
    StepInput,
    | ("timeout_ms" | "idle_timeout_ms" | "kill_grace_ms" | "continue_on_failure" | "hold" | "uses")
    | ("failure_handler" | "fail_if" | "outputs" | "tags" | "description")
  > & {
    readonly retry?: Retry;
    /** What repairs it, in this order; then it is tried once more. */
    readonly repair?: { readonly [name: string]: Repair };
  };

export type StepOptions<T = unknown> = Policy & {
  /** What it puts out must fit this. An output that does not is never tried again: what the step does has been done. */
  readonly check?: StandardSchema<unknown, T>;
};

type Routed = "on_fail" | "on_success" | "depends_on" | "needs" | "start" | "if" | "undo" | "join";
/** An action of the file with its policy. What leads to other steps is the program's own business. */
export type RunOptions = DistributiveOmit<StepInput, Routed | "forEach" | "for_each" | "foreach" | "reduce"> &
  Policy;
type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

export interface Question<Choice extends string> extends Lineage {
  readonly prompt: string;
  readonly choices?: readonly Choice[];
  /** How long it waits for an answer. */
  readonly expires?: string | number;
  /** What counts as the answer then; without it the call is rejected. */
  readonly otherwise?: NoInfer<Choice>;
}

export interface Answer<Choice extends string> {
  readonly choice: Choice;
  readonly text: string;
}

export interface MapOptions<T> extends Lineage {
  /** What tells an item from the others, whatever its place: its steps are found again by it. */
  readonly key: (item: T, index: number) => string;
  /** How many items are worked on at a time; by default 16. */
  readonly concurrency?: number;
}

/** What a program calls. Everything else in it must do the same each time. */
export interface Steps {
  /** A function. What it returns is recorded as JSON and never computed again. */
  step<T>(name: Name, run: StepFunction<T>): Promise<T>;
  step<T>(name: Name, options: StepOptions<T>, run: StepFunction<T>): Promise<T>;
  /** An action of the file: a command, a request, an agent, a model. Its texts are taken as they are, without templates. */
  run<T = Json>(name: Name, step: RunOptions): Promise<T>;
  /** A person's answer. */
  ask<const Choice extends string = "approve" | "reject">(
    name: Name,
    question: Question<Choice>,
  ): Promise<Answer<Choice>>;
  /** Waits for so long, or until then: milliseconds, `30s`, `2h`, or a date. */
  sleep(name: Name, until: number | string | Date): Promise<void>;
  /** Does the same for each item. Rejected with the first failure that the function does not catch. */
  map<T, R>(
    name: Name,
    items: readonly T[],
    options: MapOptions<T>,
    run: (item: T, steps: Steps, index: number) => Promise<R>,
  ): Promise<R[]>;
  /** The same; an item that fails is reported with the others. */
  mapSettled<T, R>(
    name: Name,
    items: readonly T[],
    options: MapOptions<T>,
    run: (item: T, steps: Steps, index: number) => Promise<R>,
  ): Promise<PromiseSettledResult<R>[]>;
  /** When the last outcome came that the program knows; at first, when the run began. */
  now(): Date;
  /** From 0 to 1: the same each time for this name in this run. */
  random(name: Name): number;
  /** The same each time for this name in this run, and in no other run. */
  uuid(name: Name): string;
  /** Writes a line to the program's log; not while it comes to where it was. */
  log(text: string): void;
  /** Aborted when the run is canceled. */
  readonly signal: AbortSignal;
  readonly runId: number;
  /** It does again what is on record. */
  readonly isReplaying: boolean;
}

export type Program<Input, Output> = (steps: Steps, input: Input) => Promise<Output>;

type OfWorkflow =
  | ("unhandled" | "hold" | "labels" | "concurrency" | "priority" | "deadline" | "warn_after" | "notify")
  | ("breakers" | "failure_handlers" | "secrets" | "env" | "max_recoveries" | "max_items" | "max_log")
  | ("description" | "routing");

export interface FlowOptions<
  In extends StandardSchema<unknown, unknown> = StandardSchema<unknown, unknown>,
  Out = unknown,
> extends Pick<WorkflowInput, OfWorkflow> {
  /** What the input must fit. */
  readonly input?: In;
  /** What the program returns must fit this. */
  readonly output?: StandardSchema<unknown, Out>;
  /** Of the program itself, for what fails outside of steps. */
  readonly retry?: Retry;
  /** How long an attempt of the program may be at work. `deadline` is for the whole run. */
  readonly timeout_ms?: StepInput["timeout_ms"];
  /** A program that does not call what it called before: `hold` asks a person; `by_name` goes on by names alone. */
  readonly changes?: "hold" | "by_name";
}

/** A program that runs as a workflow does. */
export interface Flow<Input, Output> {
  readonly name: string;
  readonly definition: Definition;
  readonly options: FlowOptions;
  readonly program: (steps: Steps, input: never) => Promise<Output>;
  /** Only for the types: what a start is given. */
  readonly takes?: (input: Input) => void;
}
export type AnyFlow = Flow<never, unknown>;

export function flow<Input = void, Output = void>(
  name: string,
  program: Program<Input, Output>,
): Flow<Input, Output>;
export function flow<In extends StandardSchema<unknown, unknown>, Output>(
  name: string,
  options: FlowOptions<In, Output> & { readonly input: In },
  program: Program<SchemaOutput<In>, Output>,
): Flow<SchemaInput<In>, Output>;
export function flow<Input = void, Output = void>(
  name: string,
  options: Omit<FlowOptions<never, Output>, "input">,
  program: Program<Input, Output>,
): Flow<Input, Output>;
export function flow(
  name: string,
  given: FlowOptions | Program<never, unknown>,
  program?: Program<never, unknown>,
): AnyFlow {
  const options = typeof given === "function" ? {} : given;
  const run = typeof given === "function" ? given : program!;
  return { name, options, program: run, definition: definitionOf(name, options) };
}

/** The step that the program is. */
export const MAIN = "main";

/** One step, the program; what it calls comes into the run while it goes on. */
function definitionOf(name: string, options: FlowOptions): Definition {
  const { input: _, output: __, changes: ___, retry, timeout_ms: timeoutMs, ...rest } = options;
  const type = programAction(name);
  const main = {
    kind: type,
    implementation: {},
    ...(retry === undefined ? {} : { on_fail: { retry: retryOf(retry) } }),
    ...(timeoutMs === undefined ? {} : { timeout_ms: timeoutMs }),
  };
  return defineWorkflow(
    { ...rest, name, inputs: { input: { type: "any", default: null } }, steps: { [MAIN]: main } },
    { actions: [type] },
  );
}

export function retryOf(retry: Retry): Exclude<Retry, number> {
  return typeof retry === "number" ? { max: retry } : retry;
}
