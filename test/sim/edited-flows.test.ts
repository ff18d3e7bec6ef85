import { describe, expect, it } from "vitest";
import { type AnyFlow, flow, type Steps } from "../../src/flow/flow.js";
import { FlowStage } from "../support/flow-stage.js";
import { Random } from "./random.js";

/** EDITS=n tells how many programs are changed; SEED=n changes one. */
const only = process.env.SEED === undefined ? null : Number(process.env.SEED);
const count = Number(process.env.EDITS ?? 60);

type Item = { name: string } | { all: string[] } | { race: string[] } | { chains: string[][] };
const KINDS = ["rename", "rename_in_chain", "insert", "remove", "swap", "kind", "none"] as const;
type Kind = (typeof KINDS)[number];

function makeItems(random: Random): Item[] {
  return Array.from({ length: random.between(3, 7) }, (_, n): Item => {
    const chance = random.next();
    if (chance < 0.5) return { name: `s${n}` };
    if (chance < 0.7) return { all: [`p${n}a`, `p${n}b`] };
    if (chance < 0.8) return { race: [`r${n}a`, `r${n}b`] };
    return {
      chains: [
        [`c${n}a`, `c${n}aa`],
        [`c${n}b`, `c${n}bb`],
      ],
    };
  });
}

function programOf(
  items: readonly Item[],
  did: string[],
  bad: string | null,
  commands: ReadonlySet<string>,
): AnyFlow {
  const call = (s: Steps, name: string): Promise<unknown> =>
    commands.has(name)
      ? s.run(name, { exec: name })
      : s.step(name, () => {
          did.push(name);
          if (name === bad) throw new Error("down");
          return name;
        });
  const chain = async (s: Steps, names: readonly string[]): Promise<void> => {
    for (const name of names) await call(s, name);
  };
  return flow(
    "edited",
    { unhandled: "hold" } as never,
    (async (s: Steps) => {
      for (const item of items) {
        if ("name" in item) await call(s, item.name);
        else if ("all" in item) await Promise.all(item.all.map((name) => call(s, name)));
        else if ("race" in item) await Promise.race(item.race.map((name) => call(s, name)));
        else await Promise.all(item.chains.map((names) => chain(s, names)));
      }
    }) as never,
  ) as AnyFlow;
}

interface Edit {
  readonly items: Item[];
  /** A recorded step that has another name, or is of another kind, now. */
  readonly victim: string | null;
  readonly isDangerous: boolean;
}

/** One change among what the run has behind it. */
function edit(random: Random, items: readonly Item[], at: number, kind: Kind): Edit {
  const edited = structuredClone(items) as Item[];
  const before = edited.slice(0, at);
  const none = { items: edited, victim: null, isDangerous: false };
  switch (kind) {
    case "rename":
    case "kind": {
      const pool = before.filter((item) => "name" in item);
      if (pool.length === 0) return none;
      const item = random.pick(pool);
      const victim = item.name;
      if (kind === "rename") item.name += "X";
      return { items: edited, victim, isDangerous: true };
    }
    case "rename_in_chain": {
      const pool = before.filter((item) => "chains" in item);
      if (pool.length === 0) return none;
      const [names] = random.pick(pool).chains;
      const victim = names![1]!;
      names![1] += "X";
      return { items: edited, victim, isDangerous: true };
    }
    case "insert":
      edited.splice(random.between(0, at), 0, { name: "new" });
      return { items: edited, victim: null, isDangerous: true };
    case "remove":
      if (at > 0) edited.splice(random.between(0, at - 1), 1);
      return none;
    case "swap": {
      if (at < 2) return none;
      const place = random.between(0, at - 2);
      [edited[place], edited[place + 1]] = [edited[place + 1]!, edited[place]!];
      return none;
    }
    case "none":
      return none;
  }
}

async function change(seed: number): Promise<{ kind: Kind; fault: string | null; end: string }> {
  const random = new Random(seed);
  const items = makeItems(random);
  const at = random.between(0, items.length);
  items.splice(at, 0, { name: "BAD" });
  const did: string[] = [];
  const stage = await FlowStage.begin(programOf(items, did, "BAD", new Set()));
  const held = await stage.rest();
  const done = new Set(held.jobs.filter(({ status }) => status === "completed").map(({ step }) => step));
  const executed = did.length;
  const kind = random.pick(KINDS);
  const { items: edited, victim, isDangerous } = edit(random, items, at, kind);
  await stage.resolve("BAD", "retry");
  const commands = new Set(kind === "kind" && victim !== null ? [victim] : []);
  await stage.resume(programOf(edited, did, null, commands));
  const view = await stage.rest();
  const again = did.slice(executed).filter((name) => done.has(name));
  const { status, error } = view.job("main");
  const isHeld = status === "held" && error?.code === "FLOW_CHANGED";
  const fault =
    again.length > 0
      ? `${again} ran again`
      : victim !== null && did.slice(executed).includes(`${victim}X`)
        ? `${victim} ran again under its new name`
        : isDangerous !== isHeld
          ? `is ${isHeld ? "" : "not "}held: ${view.run.status}, ${error?.message}`
          : !isHeld && view.run.status !== "completed"
            ? `ends ${view.run.status}`
            : isHeld && victim !== null && !error.message.includes(`edited-flows.test.ts:`)
              ? `does not name its lines: ${error.message}`
              : null;
  return { kind, fault, end: isHeld ? "held" : view.run.status };
}

describe("programs that are changed under held runs", () => {
  const seeds = only === null ? Array.from({ length: count }, (_, index) => index + 1) : [only];

  it("do nothing again, and every change that might is named and held", async () => {
    const ends = new Map<string, number>();
    for (const seed of seeds) {
      const { kind, fault, end } = await change(seed);
      expect(fault, `seed ${seed}, ${kind}`).toBeNull();
      ends.set(`${kind} ${end}`, (ends.get(`${kind} ${end}`) ?? 0) + 1);
    }
    if (process.env.SHOW_LOG === "1") console.log(ends);
    if (only === null)
      expect([...ends.keys()]).toEqual(expect.arrayContaining(["rename held", "remove completed"]));
  });
});
