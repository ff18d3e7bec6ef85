import { describe, expect, it } from "vitest";
import { enginePorts, flush, workflow } from "../../../test/support/harness.js";
import { ManualClock } from "../../../test/support/manual-clock.js";
import { plainSandbox } from "../../../test/support/plain-sandbox.js";
import { ScriptedWorker } from "../../../test/support/scripted-worker.js";
import type { Command } from "../../core/model/commands.js";
import type { Outcome } from "../../core/model/outcome.js";
import { createMemoryStore, type MemoryStore } from "../../store/memory/memory-store.js";
import type { Assignment, Seat } from "../worker.js";
import { Engine } from "./engine.js";

/** Works in the engine's own process, says which attempts it was given, and finishes them at once. */
class OwnWorker extends ScriptedWorker {
  readonly given: string[] = [];
  readonly doesNothingAs?: string;

  constructor(options: { readonly passes: boolean }) {
    super(new ManualClock(), {});
    if (options.passes) this.doesNothingAs = "local-1";
  }

  override place(): Seat {
    return { worker: "local-1" };
  }

  override release(): void {}

  override run({ stepId }: Assignment): Promise<Outcome> {
    this.given.push(stepId);
    return Promise.resolve({ kind: "succeeded", output: { kind: "value", value: null } });
  }
}

/** Keeps commits under way until they are let go. */
function slow(store: MemoryStore): { store: MemoryStore; sizes: number[]; release(): void } {
  const waiting: (() => void)[] = [];
  const sizes: number[] = [];
  const held = new Proxy(store, {
    get: (target, name: keyof MemoryStore) =>
      name !== "commit"
        ? target[name]
        : async (appends: Parameters<MemoryStore["commit"]>[0]) => {
            sizes.push(appends.reduce((sum, { events }) => sum + events.length, 0));
            await new Promise<void>((resolve) => waiting.push(resolve));
            return target.commit(appends);
          },
  });
  return { store: held, sizes, release: () => waiting.shift()?.() };
}

function engineOn(store: MemoryStore, worker: OwnWorker, name = "test"): Engine {
  const ports = enginePorts(store, new ManualClock(), name);
  return new Engine({ ...ports, isDead: () => true, worker, sandbox: plainSandbox });
}

const answer = (job: number): Command => ({
  type: "human.answer",
  job,
  choice: "approve",
  text: "",
  key: null,
});

const chain = (count: number, step: string): string =>
  `steps:\n${Array.from(
    { length: count },
    (_, index) => `  s${index}: { ${step}${index === 0 ? "" : `, depends_on: s${index - 1}`} }`,
  ).join("\n")}`;

describe("a step that does nothing", () => {
  it("is passed without a worker: start and end stand in the log as for any other", async () => {
    const store = createMemoryStore();
    const worker = new OwnWorker({ passes: true });
    const { runId, ended } = await engineOn(store, worker).start(workflow(chain(3, "type: noop")));
    expect((await ended).status).toBe("completed");
    expect(worker.given).toEqual([]);
    const log = (await store.readEvents(runId)).map(({ event }) => event.type);
    const step = ["attempt.started", "attempt.succeeded", "jobs.ready"];
    expect(log.filter((type) => step.includes(type))).toEqual([
      "jobs.ready",
      ...step,
      ...step,
      ...step.slice(0, 2),
    ]);
    const attempts = await store.readAttempts(runId);
    expect(attempts.map(({ status, worker: by }) => [status, by])).toEqual(
      Array(3).fill(["succeeded", "local-1"]),
    );
  });

  it.each([
    ["gives an output", "type: noop, output: 1"],
    ["has a schema for its output", "type: noop, outputs: { type: 'null' }"],
    ["asks for a worker", "type: noop, runs_on: gpu"],
    ["has a template in its environment", "type: noop, env: { A: '{{ inputs.a }}' }"],
  ])("is an attempt like any other where it %s", async (_name, step) => {
    const worker = new OwnWorker({ passes: true });
    const { ended } = await engineOn(createMemoryStore(), worker).start(workflow(chain(1, step)));
    await ended;
    expect(worker.given).toEqual(["s0"]);
  });

  it("never gets further ahead of the log than one batch", async () => {
    const { store, sizes, release } = slow(createMemoryStore());
    const starting = engineOn(store, new OwnWorker({ passes: true })).start(
      workflow(chain(3_000, "type: noop")),
    );
    await flush();
    await flush();
    // One batch is under way; the next waits for it, and so do the steps behind it.
    expect(sizes).toHaveLength(1);
    expect(sizes[0]).toBeLessThan(2_100);
    let over = false;
    void starting.then(({ ended }) => ended).then(() => (over = true));
    for (let turn = 0; !over && turn < 1_000; turn += 1) {
      release();
      await flush();
    }
    expect(over).toBe(true);
    expect(Math.max(...sizes)).toBeLessThan(2_100);
  });

  it("is undone where the commit is refused: nobody hears of it, and the next engine passes it again", async () => {
    const store = createMemoryStore();
    const first = engineOn(store, new OwnWorker({ passes: true }), "first");
    const told: string[] = [];
    first.onEvents((_run, events) => told.push(...events.map(({ event }) => event.type)));
    const { runId } = await first.start(
      workflow(
        "steps: { ask: { type: human, prompt: well? }, a: { type: noop, depends_on: ask }, b: { type: noop, depends_on: a } }",
      ),
    );
    const before = await store.readEvents(runId);
    const toldBefore = [...told];
    store.failNextCommit(new Error("disk"), { applied: false });
    const [job] = await store.readJobs(runId);
    first.post(runId, answer(job!.id));
    await flush();
    expect(first.ownedRuns()).toEqual([]);
    expect(await store.readEvents(runId)).toEqual(before);
    expect(told).toEqual(toldBefore);
    const second = engineOn(store, new OwnWorker({ passes: true }), "second");
    const { ended } = await second.resume(runId);
    second.post(runId, answer(job!.id));
    expect((await ended).status).toBe("completed");
    const started = (await store.readEvents(runId)).filter(({ event }) => event.type === "attempt.started");
    expect(started.map(({ event }) => "attempt" in event && event.attempt)).toEqual([1, 1, 1]);
  });
});

describe("an attempt in the engine's own process", () => {
  it("begins before its start is committed if it has no effects, else after it", async () => {
    const { store, release } = slow(createMemoryStore());
    const worker = new OwnWorker({ passes: false });
    const starting = engineOn(store, worker).start(
      workflow("steps: { a: { type: noop }, b: { exec: make }, c: { type: script, content: '1' } }"),
    );
    await flush();
    expect(worker.given).toEqual(["a", "c"]);
    release();
    await starting;
    await flush();
    expect(worker.given).toEqual(["a", "c", "b"]);
  });
});
