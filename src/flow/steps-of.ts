import { createHash } from "node:crypto";
import { DarumaError } from "../core/errors/errors.js";
import { MAP, WAIT } from "../core/model/flow.js";
import type { Scope } from "../core/model/run.js";
import type { Json } from "../core/text/json.js";
import { parseDuration } from "../file/read/amounts.js";
import { nameOf } from "./call-names.js";
import { type Declaration, declare, functionInput, repairName } from "./declaration.js";
import type { Lineage, MapOptions, Name, Policy, Question, Steps } from "./flow.js";
import type { AnyFunction, Asked, ProgramRun } from "./program-run.js";
import { fitted, type StandardSchema } from "./standard-schema.js";

const DEFAULT_CONCURRENCY = 16;

/** What a program is given to call, in one scope: that of the run, or of an item. */
export function stepsIn(program: ProgramRun, scope: Scope): Steps {
  return new StepsInScope(program, scope);
}

class StepsInScope implements Steps {
  constructor(
    private readonly program: ProgramRun,
    private readonly scope: Scope,
  ) {}

  step = ((name: Name, given: object | AnyFunction, run?: AnyFunction): Promise<Json> => {
    const options = typeof given === "function" ? {} : given;
    const { check, ...policy } = options as Policy & { readonly check?: StandardSchema<unknown, unknown> };
    const work = typeof given === "function" ? (given as AnyFunction) : run!;
    const checked = check === undefined ? work : checkedBy(check, work);
    return this.call(name, policy, functionInput(), checked);
  }) as Steps["step"];

  run = ((name: Name, step: Policy): Promise<Json> => this.call(name, step, {})) as Steps["run"];

  ask = ((name: Name, question: Question<string>): Promise<unknown> => {
    const { prompt, choices = ["approve", "reject"], expires, otherwise, was, added } = question;
    const lineage = { ...(was === undefined ? {} : { was }), ...(added === undefined ? {} : { added }) };
    return this.call(name, lineage, {
      type: "human",
      prompt,
      choices,
      // The choice is the program's business, whatever it is.
      reject: [],
      ...(expires === undefined ? {} : { expires }),
      ...(otherwise === undefined ? {} : { then: { choose: otherwise } }),
    });
  }) as Steps["ask"];

  sleep = async (name: Name, until: number | string | Date): Promise<void> => {
    const action = { type: WAIT, ...moment(until) };
    await this.plain(name, {}, action);
  };

  map = async <T, R>(
    name: Name,
    items: readonly T[],
    options: MapOptions<T>,
    run: (item: T, steps: Steps, index: number) => Promise<R>,
  ): Promise<R[]> => {
    const scopes = await this.open(name, items, options);
    const results: R[] = [];
    await inLanes(items.length, options.concurrency, async (index) => {
      results[index] = await run(items[index]!, stepsIn(this.program, scopes[index]!), index);
    });
    return results;
  };

  mapSettled = async <T, R>(
    name: Name,
    items: readonly T[],
    options: MapOptions<T>,
    run: (item: T, steps: Steps, index: number) => Promise<R>,
  ): Promise<PromiseSettledResult<R>[]> => {
    const scopes = await this.open(name, items, options);
    const results: PromiseSettledResult<R>[] = [];
    await inLanes(items.length, options.concurrency, async (index) => {
      const [one] = await Promise.allSettled([
        run(items[index]!, stepsIn(this.program, scopes[index]!), index),
      ]);
      results[index] = one;
    });
    return results;
  };

  now = (): Date => new Date(this.program.clockAt);

  random = (name: Name): number => this.drawn("random", name).readUInt32BE(0) / 2 ** 32;

  uuid = (name: Name): string => {
    const bytes = this.drawn("uuid", name).subarray(0, 16);
    bytes[6] = (bytes[6]! & 0x0f) | 0x40;
    bytes[8] = (bytes[8]! & 0x3f) | 0x80;
    const hex = bytes.toString("hex");
    return [
      [0, 8],
      [8, 12],
      [12, 16],
      [16, 20],
      [20, 32],
    ]
      .map(([from, to]) => hex.slice(from, to))
      .join("-");
  };

  log = (text: string): void => this.program.log(text);

  get signal(): AbortSignal {
    return this.program.signal;
  }

  get runId(): number {
    return this.program.run.id;
  }

  get isReplaying(): boolean {
    return this.program.isReplaying;
  }

  private drawn(what: string, name: Name): Buffer {
    const { main } = this.program;
    return createHash("sha256")
      .update(JSON.stringify([what, main.program!.seed, this.scope.id, nameOf(name)]))
      .digest();
  }

  private async open<T>(
    name: Name,
    items: readonly T[],
    { key, was, added }: MapOptions<T>,
  ): Promise<Scope[]> {
    const keys = items.map((item, index) => key(item, index));
    const twice = keys.find((each, index) => keys.indexOf(each) < index);
    if (twice !== undefined)
      throw new DarumaError(
        "INVALID_VALUE",
        `two items of ${nameOf(name)} have the key ${JSON.stringify(twice)}`,
      );
    const lineage = { ...(was === undefined ? {} : { was }), ...(added === undefined ? {} : { added }) };
    const opener = await this.plain(name, lineage, { type: MAP }, keys);
    const { children } = this.scope;
    const own = [...children].find(([step]) => step.definition.id === opener)?.[1] ?? [];
    const byKey = new Map(own.map((scope) => [scope.item?.key, scope]));
    return keys.map((each) => byKey.get(each)!);
  }

  /** A call that nobody executes. Its name in the run is the answer. */
  private async plain(
    name: Name,
    lineage: Lineage,
    action: { readonly [key: string]: Json },
    items?: readonly string[],
  ): Promise<string> {
    const forEach = items === undefined ? {} : { forEach: true };
    const declaration: Declaration = { definition: { action, ...forEach }, repairs: [] };
    let known = "";
    await this.program.call({
      name: nameOf(name),
      scope: this.scope,
      ...lineage,
      declaration: (id) => {
        known = id;
        return declaration;
      },
      ...(items === undefined ? {} : { items }),
    });
    return known;
  }

  private call(name: Name, policy: Policy, action: object, run?: AnyFunction): Promise<Json> {
    const { retry, repair, was, added, ...rest } = policy;
    const { declarations, flow } = this.program;
    const functions = Object.entries(repair ?? {}).filter(([, how]) => typeof how === "function");
    let named: string;
    try {
      named = nameOf(name);
    } catch (error) {
      return Promise.reject(error);
    }
    const asked: Asked = {
      name: named,
      scope: this.scope,
      ...(was === undefined ? {} : { was }),
      ...(added === undefined ? {} : { added }),
      declaration: (id) => declare(declarations, flow.options, id, { ...action, ...rest }, retry, repair),
      repairs: (id) =>
        new Map(functions.map(([each, how]) => [repairName(id, each), how as unknown as AnyFunction])),
      ...(run === undefined ? {} : { run }),
    };
    return this.program.call(asked);
  }
}

function checkedBy(check: StandardSchema<unknown, unknown>, run: AnyFunction): AnyFunction {
  return async (attempt) =>
    fitted(check as never, await run(attempt), { name: "output", code: "OUTPUT_INVALID" });
}

function moment(until: number | string | Date): { readonly until: number } | { readonly ms: number } {
  if (until instanceof Date) return { until: until.getTime() };
  const ms = typeof until === "number" ? until : parseDuration(until);
  if (ms !== null && Number.isFinite(ms) && ms >= 0) return { ms };
  throw new DarumaError("INVALID_VALUE", `a sleep of ${JSON.stringify(until)}`, {
    hint: "Give milliseconds, a text such as `30s` or `2h`, or a Date.",
  });
}

/** So many at a time, in order. What one of them throws is thrown at once. */
async function inLanes(
  count: number,
  concurrency = DEFAULT_CONCURRENCY,
  work: (index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) await work(index);
  };
  await Promise.all(Array.from({ length: Math.max(1, Math.min(concurrency, count)) }, lane));
}
