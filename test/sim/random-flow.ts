import { type AnyFlow, type FlowOptions, flow, type StepAttempt, type Steps } from "../../src/flow/flow.js";
import { FlowCanceled } from "../../src/flow/flow-errors.js";
import type { ManualClock } from "../support/manual-clock.js";
import type { Script } from "../support/scripted-worker.js";
import type { Random } from "./random.js";

/** One thing that a random program does. */
type Item =
  | { readonly kind: "step" | "flaky" | "bad" | "hard" | "lenient" | "repaired"; readonly name: string }
  | { readonly kind: "command" | "ask"; readonly name: string }
  | { readonly kind: "sleep"; readonly name: string; readonly ms: number }
  | { readonly kind: "loop"; readonly name: string; readonly times: number }
  | { readonly kind: "all" | "race"; readonly chains: readonly (readonly Item[])[] }
  | {
      readonly kind: "map";
      readonly name: string;
      readonly keys: readonly string[];
      readonly each: readonly Item[];
    };

/** What the functions of a program share with the test: how often each has run, and how long it takes. */
export class FlowWorld {
  readonly runs = new Map<string, number>();

  constructor(
    private readonly random: Random,
    private readonly clock: () => ManualClock,
  ) {}

  /** The nth execution, after some time on the clock. */
  async work(name: string, { signal }: StepAttempt): Promise<number> {
    const nth = (this.runs.get(name) ?? 0) + 1;
    this.runs.set(name, nth);
    const ms = this.random.pick([0, 0, 0, 5, 400, 3_000]);
    if (ms > 0)
      await new Promise<void>((resolve, reject) => {
        const cancel = this.clock().after(ms, resolve);
        signal.addEventListener("abort", () => {
          cancel();
          reject(new Error("aborted"));
        });
      });
    return nth;
  }
}

export class FlowMaker {
  private count = 0;

  constructor(private readonly random: Random) {}

  make(): readonly Item[] {
    return this.items(this.random.between(2, 6), 0);
  }

  private items(count: number, depth: number): Item[] {
    return Array.from({ length: count }, () => this.item(depth));
  }

  private item(depth: number): Item {
    const { random } = this;
    this.count += 1;
    const name = `s${this.count}`;
    const deep = depth < 2 && random.chance(0.3);
    if (deep) {
      const kind = random.pick(["all", "race", "map"] as const);
      if (kind === "map")
        return {
          kind,
          name,
          keys: ["a", "b", "c"].slice(0, random.between(1, 3)),
          each: this.items(2, depth + 1),
        };
      const chains = Array.from({ length: random.between(2, 3) }, () =>
        kind === "race" ? [this.plain()] : this.items(random.between(1, 2), depth + 1),
      );
      return { kind, chains };
    }
    const kind = random.pick([
      ...([
        "step",
        "step",
        "flaky",
        "bad",
        "lenient",
        "repaired",
        "command",
        "sleep",
        "loop",
        "hard",
      ] as const),
      ...(depth === 0 ? (["ask"] as const) : []),
    ]);
    if (kind === "sleep") return { kind, name, ms: random.pick([10, 2_000, 20_000]) };
    if (kind === "loop") return { kind, name, times: random.between(2, 3) };
    return { kind, name };
  }

  private plain(): Item {
    this.count += 1;
    return { kind: "step", name: `s${this.count}` };
  }
}

/** Commands fail the first time; the ladder tries them again. */
export function scriptOf(): Script {
  return new Proxy({} as Script, {
    get: (_, step: string) =>
      step.startsWith("s")
        ? [
            { exit: 1, takesMs: 50 },
            { output: step, takesMs: 200 },
          ]
        : undefined,
  });
}

export function programOf(items: readonly Item[], world: FlowWorld, options: FlowOptions): AnyFlow {
  return flow("random", options as never, ((s: Steps) => doAll(items, s, world, "")) as never) as AnyFlow;
}

/** What it returns if nobody decides anything in its place. */
export function outputOf(items: readonly Item[]): unknown[] {
  return items.map((item) => {
    switch (item.kind) {
      case "bad":
        return "caught";
      case "lenient":
      case "sleep":
        return null;
      case "loop":
        return Array.from({ length: item.times }, () => item.name);
      case "all":
        return item.chains.map(outputOf);
      case "race":
        return "race";
      case "map":
        return item.keys.map((key) => [key, outputOf(item.each)]);
      case "ask":
        return "asked";
      default:
        return item.name;
    }
  });
}

async function doAll(items: readonly Item[], s: Steps, world: FlowWorld, place: string): Promise<unknown[]> {
  const done: unknown[] = [];
  for (const item of items) done.push(await doOne(item, s, world, place));
  return done;
}

async function doOne(item: Item, s: Steps, world: FlowWorld, place: string): Promise<unknown> {
  switch (item.kind) {
    case "sleep":
      return (await s.sleep(item.name, item.ms)) ?? null;
    case "ask":
      await s.ask(item.name, { prompt: "Go on?" });
      return "asked";
    case "command":
      return s.run(item.name, { exec: "make", retry: { max: 3 } });
    case "loop": {
      const done: string[] = [];
      for (let n = 0; n < item.times; n += 1)
        done.push(
          await s.step(item.name, async (a) => {
            await world.work(place + item.name, a);
            return item.name;
          }),
        );
      return done;
    }
    case "all":
      return Promise.all(item.chains.map((chain) => doAll(chain, s, world, place)));
    case "race": {
      // What it does next depends on who was first.
      const [first] = await Promise.race(item.chains.map((chain) => doAll(chain, s, world, place)));
      await s.step(`${String(first)} won`, async (a) => void (await world.work(`${place}won`, a)));
      return "race";
    }
    case "map":
      return s.map(item.name, item.keys, { key: (key) => key, concurrency: 2 }, async (key, each) => [
        key,
        await doAll(item.each, each, world, `${place}${item.name}[${key}].`),
      ]);
    case "bad":
      try {
        return await s.step(item.name, () => fails(item.name));
      } catch (error) {
        if (error instanceof FlowCanceled) throw error;
        return "caught";
      }
    case "lenient":
      return s.step(item.name, { continue_on_failure: true }, () => fails(item.name));
    case "repaired":
      return s.step(
        item.name,
        { repair: { mend: async (a) => void (await world.work("mend", a)) } },
        async (a) => {
          if ((await world.work(place + item.name, a)) === 1) fails(item.name);
          return item.name;
        },
      );
    default: {
      const { kind, name } = item;
      return s.step(name, kind === "flaky" ? { retry: { max: 9 } } : {}, async (a) => {
        const nth = await world.work(place + name, a);
        if ((kind === "flaky" && nth === 1) || (kind === "hard" && nth <= 2)) fails(name);
        return name;
      });
    }
  }
}

function fails(name: string): never {
  throw new Error(`${name} is down`);
}
