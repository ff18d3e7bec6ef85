import { afterEach, describe, expect, it } from "vitest";
import { FarWorker } from "../../../test/support/far-worker.js";
import { enginePorts, flush, workflow } from "../../../test/support/harness.js";
import { ManualClock } from "../../../test/support/manual-clock.js";
import { plainSandbox } from "../../../test/support/plain-sandbox.js";
import { createMemoryStore } from "../../store/memory/memory-store.js";
import type { Needs, Seat } from "../worker.js";
import { Engine } from "./engine.js";
import { RunClaimer } from "./run-claimer.js";
import { EXCHANGE_POLL_MS, NAMED_AFTER_MS } from "./run-exchange.js";
import { noWorkspaces, type WorkspaceKeeper } from "./workspace/workspace-keeper.js";

/** From the moment a run begins to wait until another server that has room for it has it. */
const MOVED_AFTER_MS = NAMED_AFTER_MS + 2 * EXCHANGE_POLL_MS;
const NO_ONE = 0;

const workspaces: WorkspaceKeeper = {
  ...noWorkspaces,
  open: async () => ({ commit: "c", path: "/w", home: "h", host: "x" }),
  // For ever at work.
  setAside: () => new Promise(() => {}),
};

let ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends) await end();
  ends = [];
});

/** Servers that share a store and a clock; each has workers of its own. */
function world() {
  const clock = new ManualClock();
  const store = createMemoryStore();
  let token = 0;
  const server = async (name: string, worker: FarWorker, sees = () => true) => {
    const ports = {
      ...enginePorts(store, clock, name),
      newToken: () => {
        token += 1;
        return `t${token}`;
      },
    };
    const engine = new Engine({ ...ports, worker, sandbox: plainSandbox, workspaces });
    const claimer = new RunClaimer({ ...ports, engine, worker, sees });
    ends.push(() => claimer.stop());
    await claimer.start();
    return { engine, worker };
  };
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += EXCHANGE_POLL_MS) {
      clock.advance(EXCHANGE_POLL_MS);
      await flush();
    }
  };
  const types = async (runId: number) => (await store.readEvents(runId)).map(({ event }) => event.type);
  const ownerOf = async (runId: number) => (await store.readLease(runId))?.owner.engine;
  return { store, server, pass, types, ownerOf };
}

const managed = (steps: string) => ({ ...workflow(`steps: ${steps}`), managed: true });
const ONE = "{ a: { exec: make } }";

describe("a run that its server has no worker for", () => {
  it("goes on at a server that has one, begun once and with nothing lost", async () => {
    const { store, server, pass, types } = world();
    const there = await server("there", new FarWorker(1));
    const here = await server("here", new FarWorker(NO_ONE));
    const { runId } = await here.engine.start(managed(ONE));
    await pass(MOVED_AFTER_MS);
    expect(there.engine.ownedRuns()).toEqual([runId]);
    expect(there.worker.begun).toMatchObject([{ token: "t1" }]);
    there.worker.end("t1");
    await flush();
    expect((await store.readRun(runId))?.status).toBe("completed");
    expect(await types(runId)).toEqual([
      ...["run.created", "run.started", "jobs.ready", "run.resumed"],
      ...["attempt.started", "attempt.succeeded", "run.completed"],
    ]);
    expect(here.worker.begun).toEqual([]);
  });

  it("is not touched where no server has one, however long it waits", async () => {
    const { server, pass, types } = world();
    await server("there", new FarWorker(NO_ONE));
    const here = await server("here", new FarWorker(NO_ONE));
    const { runId } = await here.engine.start(managed(ONE));
    await pass(120_000);
    expect(here.engine.ownedRuns()).toEqual([runId]);
    expect(await types(runId)).toEqual(["run.created", "run.started", "jobs.ready"]);
  });

  it("goes to the server whose worker has the tags, not to one that has only room", async () => {
    const { server, pass } = world();
    const plain = await server("plain", new FarWorker(8));
    const graphics = await server("graphics", new FarWorker(1, ["gpu"]));
    const here = await server("here", new FarWorker(NO_ONE));
    const { runId } = await here.engine.start(managed("{ a: { exec: make, runs_on: [gpu] } }"));
    await pass(MOVED_AFTER_MS);
    expect(graphics.engine.ownedRuns()).toEqual([runId]);
    expect(plain.engine.ownedRuns()).toEqual([]);
  });

  it("also goes where there is room when its own workers are all busy", async () => {
    const { server, pass, ownerOf } = world();
    const there = await server("there", new FarWorker(1));
    const here = await server("here", new FarWorker(1));
    const busy = await here.engine.start(managed(ONE));
    const waits = await here.engine.start(managed(ONE));
    await pass(MOVED_AFTER_MS);
    expect([await ownerOf(busy.runId), await ownerOf(waits.runId)]).toEqual(["here", "there"]);
    expect(there.worker.begun).toHaveLength(1);
  });

  it("comes with no more runs than there are slots for; the next follows when one is free", async () => {
    const { server, pass, ownerOf } = world();
    const owners = async () => [await ownerOf(1), await ownerOf(2), await ownerOf(3)];
    const there = await server("there", new FarWorker(1));
    const here = await server("here", new FarWorker(NO_ONE));
    for (let i = 0; i < 3; i += 1) await here.engine.start(managed(ONE));
    await pass(60_000);
    expect(await owners()).toEqual(["there", "here", "here"]);
    there.worker.end("t1");
    await pass(MOVED_AFTER_MS);
    expect(await owners()).toEqual([undefined, "there", "here"]);
    expect(there.worker.begun).toHaveLength(2);
  });

  it("waits for what is under way here before it goes for the next step", async () => {
    const { store, server, pass } = world();
    const there = await server("there", new FarWorker(1, ["gpu"]));
    const here = await server("here", new FarWorker(1));
    const steps = "{ a: { exec: make }, b: { exec: make, runs_on: [gpu] } }";
    const { runId } = await here.engine.start(managed(steps));
    await pass(60_000);
    expect(here.engine.ownedRuns()).toEqual([runId]);
    here.worker.end("t1");
    await pass(MOVED_AFTER_MS);
    expect(there.engine.ownedRuns()).toEqual([runId]);
    there.worker.end("t2");
    await flush();
    expect((await store.readRun(runId))?.status).toBe("completed");
    expect([here.worker.begun.length, there.worker.begun.length]).toEqual([1, 1]);
  });

  it("stays where its files are, if the other does not see them", async () => {
    const { server, pass } = world();
    const blind = await server("blind", new FarWorker(1), () => false);
    const here = await server("here", new FarWorker(NO_ONE));
    const { runId } = await here.engine.start(managed(ONE));
    await pass(60_000);
    expect(here.engine.ownedRuns()).toEqual([runId]);
    expect(blind.engine.ownedRuns()).toEqual([]);
  });
});

describe("a run with a workspace", () => {
  const RETRIED = "steps: { edit: { exec: make, on_fail: { retry: { max: 1 } } } }";
  const ROUTED = `transitions: [{ from: edit, to: mend, on: failure }],
    steps: { edit: { exec: make }, mend: { exec: make, start: routed } }`;
  const inWorkspace = (rest: string) => ({
    ...workflow(`{ workspace: { repo: "." }, ${rest} }`),
    managed: true,
  });
  const failed = { kind: "failed", facts: { exitCode: 1, message: "no" } } as const;

  /** A server's own worker, which executes steps in workspaces or, after a restart, never will. */
  class Home extends FarWorker {
    isBusy = false;
    constructor(private readonly takesSteps: boolean) {
      super(1);
    }
    override place(needs: Needs): Seat | "full" | null {
      return this.isBusy ? "full" : super.place(needs);
    }
    hasTurnFor(): boolean {
      return this.takesSteps;
    }
  }

  it.each([
    ["stays where its failed attempt has left work, though the server is busy", RETRIED, true, "here"],
    ["stays where a step is to mend what another has left", ROUTED, true, "here"],
    ["goes where it can go on, if its server never will", RETRIED, false, "there"],
  ])("%s", async (_, rest, takesSteps, owner) => {
    const { server, pass, ownerOf } = world();
    await server("there", new FarWorker(1));
    const home = new Home(takesSteps);
    const here = await server("here", home);
    const { runId } = await here.engine.start(inWorkspace(rest));
    home.isBusy = true;
    home.end("t1", failed);
    await pass(MOVED_AFTER_MS);
    expect(await ownerOf(runId)).toBe(owner);
  });

  it("stays while what a step has left is set aside", async () => {
    const { server, pass, ownerOf, types } = world();
    await server("there", new FarWorker(1, ["gpu"]));
    const home = new Home(false);
    const here = await server("here", home);
    const steps = `{ edit: { exec: make }, other: { exec: make, depends_on: [gate] }, gate: { type: noop },
      far: { exec: make, workspace: false, runs_on: [gpu], depends_on: [gate] } }`;
    const { runId } = await here.engine.start(inWorkspace(`steps: ${steps}`));
    home.end("t1", failed);
    await flush();
    home.end("t2");
    await pass(60_000);
    expect((await types(runId)).at(-1)).toBe("set_aside.started");
    expect(await ownerOf(runId)).toBe("here");
  });
});

describe("a server whose waiting run was taken", () => {
  it("starts nothing of it when a worker comes after all, and gives that worker's room to others", async () => {
    const { server, pass } = world();
    const here = await server("here", new FarWorker(1, ["late"]));
    const { runId } = await here.engine.start(managed(ONE.replace("make", "make, runs_on: [gpu]")));
    await pass(NAMED_AFTER_MS);
    const there = await server("there", new FarWorker(1, ["gpu"]));
    await pass(MOVED_AFTER_MS);
    expect(there.engine.ownedRuns()).toEqual([runId]);
    here.engine.post(runId, { type: "run.cancel", reason: "late", key: "late" });
    await flush();
    expect(here.engine.ownedRuns()).toEqual([]);
    const next = await here.engine.start(managed(ONE));
    await flush();
    expect(here.worker.begun).toHaveLength(1);
    expect(here.engine.ownedRuns()).toEqual([next.runId]);
    expect(there.engine.ownedRuns()).toEqual([runId]);
  });
});
