import { afterEach, describe, expect, it } from "vitest";
import { FarWorker } from "../../../test/support/far-worker.js";
import { enginePorts, flush, workflow } from "../../../test/support/harness.js";
import { ManualClock } from "../../../test/support/manual-clock.js";
import { plainSandbox } from "../../../test/support/plain-sandbox.js";
import { DarumaError } from "../../core/errors/errors.js";
import { createMemoryStore } from "../../store/memory/memory-store.js";
import type { LeaseOwner } from "../../store/store.js";
import { Engine } from "./engine.js";
import { CLAIM_POLL_MS, NEIGHBOUR_POLL_MS, RunClaimer } from "./run-claimer.js";
import { noWorkspaces, type WorkspaceKeeper } from "./workspace/workspace-keeper.js";

const ONE = `steps: { a: { exec: make }, b: { exec: make, depends_on: a } }`;
let ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends) await end();
  ends = [];
});

/** Servers that share a store, a clock and the workers. */
function world(
  isDead: (owner: LeaseOwner) => boolean = () => false,
  keepers: { readonly [server: string]: WorkspaceKeeper } = {},
) {
  const clock = new ManualClock();
  const store = createMemoryStore();
  const worker = new FarWorker();
  let token = 0;
  const server = (name: string) => {
    const ports = {
      ...enginePorts(store, clock, name),
      isDead,
      newToken: () => {
        token += 1;
        return `t${token}`;
      },
    };
    const workspaces = keepers[name] ?? noWorkspaces;
    const engine = new Engine({ ...ports, worker, sandbox: plainSandbox, workspaces });
    const claimer = new RunClaimer({ ...ports, engine, worker });
    ends.push(() => claimer.stop());
    return { engine, claimer };
  };
  const events = async (runId: number) => (await store.readEvents(runId)).map(({ event }) => event);
  return { clock, store, worker, server, events };
}

/** One whose files the server has, or has not yet. */
function keeper(has: { files: boolean }): WorkspaceKeeper {
  return {
    ...noWorkspaces,
    open: async () => ({ commit: "c", path: "/w", home: "h", host: "x" }),
    takeUp: async () => {
      if (has.files) return null;
      throw new DarumaError("WORKSPACE_ELSEWHERE", "out of reach");
    },
  };
}

const managed = (text = ONE) => ({ ...workflow(text), managed: true });

describe("a run whose workspace is out of reach of a server", () => {
  const IN_WORKSPACE = `{ workspace: { repo: "." }, steps: { a: { exec: make } } }`;

  it("is left to another, and tried again after a while", async () => {
    const reach = { files: false };
    const keepers = { first: keeper({ files: true }), second: keeper(reach), third: keeper({ files: true }) };
    const { store, clock, server, events } = world(() => true, keepers);
    const first = server("first");
    const { runId } = await first.engine.start(managed(IN_WORKSPACE));
    await first.engine.stop();
    const second = server("second");
    await second.claimer.start();
    expect(second.engine.ownedRuns()).toEqual([]);
    expect(await store.readLease(runId)).toBeNull();
    expect((await store.readRun(runId))?.status).toBe("running");
    const polls = async (ms: number) => {
      for (let waited = 0; waited < ms; waited += CLAIM_POLL_MS) {
        clock.advance(CLAIM_POLL_MS);
        await flush();
      }
    };
    reach.files = true;
    await polls(28_000);
    expect(second.engine.ownedRuns()).toEqual([]);
    await polls(4_000);
    expect(second.engine.ownedRuns()).toEqual([runId]);
    const told = (await events(runId)).filter(({ type }) => type === "workspace.left");
    expect(told).toMatchObject([{ message: "out of reach" }]);
  });

  it("goes to the server that has it meanwhile", async () => {
    const keepers = {
      first: keeper({ files: true }),
      second: keeper({ files: false }),
      third: keeper({ files: true }),
    };
    const { server } = world(() => true, keepers);
    const first = server("first");
    const { runId } = await first.engine.start(managed(IN_WORKSPACE));
    await first.engine.stop();
    await server("second").claimer.start();
    const third = server("third");
    await third.claimer.start();
    expect(third.engine.ownedRuns()).toEqual([runId]);
  });
});

describe("a server looks for runs that nobody has", () => {
  it("and goes on with one that another let go of, its attempt still running", async () => {
    const { store, worker, server, events } = world();
    const first = server("first");
    const second = server("second");
    await second.claimer.start();
    const { runId } = await first.engine.start(managed());
    await first.engine.stop();
    await flush();
    expect(second.engine.ownedRuns()).toEqual([runId]);
    expect(worker.adopted).toMatchObject([{ token: "t1", worker: "far/1", recovery: false }]);
    expect(worker.stopped).toEqual([]);
    worker.end("t1");
    await flush();
    worker.end("t2");
    await flush();
    expect((await store.readRun(runId))?.status).toBe("completed");
    expect(worker.outcomes).toEqual(["committed", "committed"]);
    const log = await events(runId);
    expect(log.filter(({ type }) => type === "attempt.started")).toHaveLength(2);
    expect(log.filter(({ type }) => type === "run.resumed")).toEqual([{ type: "run.resumed", lost: [] }]);
  });

  it("and leaves alone a run that is its own process's business", async () => {
    const { server } = world();
    const first = server("first");
    const second = server("second");
    await first.engine.start(workflow(ONE));
    await first.engine.stop();
    await second.claimer.start();
    expect(second.engine.ownedRuns()).toEqual([]);
  });

  it("and does not lift the pause of one", async () => {
    const { store, worker, server } = world();
    const first = server("first");
    const { runId } = await first.engine.start(managed());
    await first.engine.operate(runId, { type: "run.pause", reason: "wait", key: null, takeover: false });
    await first.engine.stop();
    const second = server("second");
    await second.claimer.start();
    expect(second.engine.ownedRuns()).toEqual([runId]);
    worker.end("t1");
    await flush();
    expect((await store.readRun(runId))?.status).toBe("paused");
    expect(second.engine.ownedRuns()).toEqual([]);
  });

  it("and takes up a held run when its hold expires, not before, and only one of them does", async () => {
    const { store, clock, worker, server, events } = world();
    const servers = ["first", "second", "third"].map(server);
    const text = `{ unhandled: hold, hold: { expires: 1h, then: retry }, steps: { a: { exec: make } } }`;
    const { runId } = await servers[0]!.engine.start(managed(text));
    worker.end("t1", { kind: "failed", facts: { message: "exit code 1", exitCode: 1 } });
    await flush();
    const due = (await store.readRun(runId))!.created_at + 3_600_000;
    expect(await store.readRun(runId)).toMatchObject({ status: "held", wanted: false, wanted_at: due });
    await servers[0]!.engine.stop();
    for (const { claimer } of servers.slice(1)) await claimer.start();
    const owned = () => servers.slice(1).flatMap(({ engine }) => engine.ownedRuns());
    for (const wait of [due - clock.now() - 1_000, 900]) {
      clock.advance(wait);
      await flush();
      expect(owned()).toEqual([]);
    }
    for (let polls = 0; polls < 3; polls += 1) {
      clock.advance(CLAIM_POLL_MS);
      await flush();
    }
    expect(owned()).toEqual([runId]);
    const resolved = (await events(runId)).filter(({ type }) => type === "hold.resolved");
    expect(resolved).toMatchObject([{ action: "retry", expired: true }]);
    worker.end("t2");
    await flush();
    expect(await store.readRun(runId)).toMatchObject({ status: "completed", wanted_at: null });
  });

  it("and leaves a paused run with an expired hold alone until it goes on", async () => {
    const { store, clock, worker, server, events } = world();
    const first = server("first");
    const text = `{ unhandled: hold, hold: { expires: 1m }, steps: { a: { exec: make } } }`;
    const { runId } = await first.engine.start(managed(text));
    await first.engine.operate(runId, { type: "run.pause", reason: "wait", key: null, takeover: false });
    worker.end("t1", { kind: "failed", facts: { message: "exit code 1", exitCode: 1 } });
    await flush();
    const second = server("second");
    await second.claimer.start();
    clock.advance(600_000);
    await flush();
    expect(await store.readRun(runId)).toMatchObject({ status: "paused", wanted_at: null });
    expect((await events(runId)).some(({ type }) => type === "hold.resolved")).toBe(false);
    await second.engine.resume(runId);
    expect(await store.readRun(runId)).toMatchObject({ status: "failed", wanted_at: null });
  });

  it("and takes one from a server that fell silent, when its lease is over", async () => {
    const { clock, server } = world();
    const silent = server("silent");
    const { runId } = await silent.engine.start(managed());
    // It renews nothing any more.
    clock.forget();
    const second = server("second");
    await second.claimer.start();
    clock.advance(29_000);
    await flush();
    expect(second.engine.ownedRuns()).toEqual([]);
    clock.advance(CLAIM_POLL_MS);
    await flush();
    expect(second.engine.ownedRuns()).toEqual([runId]);
  });

  it("and takes one at once from a server of this host that is dead", async () => {
    const { clock, server } = world((owner) => owner.engine === "dead");
    const { runId } = await server("dead").engine.start(managed());
    clock.forget();
    const second = server("second");
    await second.claimer.start();
    expect(second.engine.ownedRuns()).toEqual([runId]);
  });

  it("and takes all the runs of a server of this host as soon as it dies, long before their leases are over", async () => {
    const dead = new Set<string>();
    const { clock, server } = world((owner) => dead.has(owner.engine));
    const first = server("first");
    const runs: number[] = [];
    for (let run = 0; run < 120; run += 1) runs.push((await first.engine.start(managed())).runId);
    clock.forget();
    const second = server("second");
    await second.claimer.start();
    clock.advance(NEIGHBOUR_POLL_MS);
    await flush();
    expect(second.engine.ownedRuns()).toEqual([]);
    dead.add("first");
    clock.advance(NEIGHBOUR_POLL_MS);
    for (let round = 0; round < 20; round += 1) await flush();
    expect(second.engine.ownedRuns().sort((a, b) => a - b)).toEqual(runs);
  });

  it("and asks no more whether a server lives that has no runs left", async () => {
    let asked = 0;
    const { clock, server } = world(() => {
      asked += 1;
      return false;
    });
    const first = server("first");
    const { runId } = await first.engine.start(managed());
    const second = server("second");
    await second.claimer.start();
    clock.advance(NEIGHBOUR_POLL_MS);
    expect(asked).toBe(2);
    await first.engine.operate(runId, { type: "run.cancel", reason: "enough", key: null });
    await flush();
    clock.advance(CLAIM_POLL_MS);
    await flush();
    const before = asked;
    clock.advance(10 * CLAIM_POLL_MS);
    await flush();
    expect(asked).toBe(before);
  });
});

describe("a store that fails for a moment", () => {
  it("costs a managed run nothing: it is loaded again, and its attempt adopted", async () => {
    const { clock, store, worker, server } = world();
    const { engine, claimer } = server("only");
    await claimer.start();
    const { runId } = await engine.start(managed());
    store.failNextCommit(new Error("the disk is gone"), { applied: false });
    worker.end("t1");
    await flush();
    expect(engine.ownedRuns()).toEqual([]);
    expect(worker.outcomes).toEqual(["not_owned"]);
    clock.advance(1_000);
    await flush();
    expect(engine.ownedRuns()).toEqual([runId]);
    worker.end("t1");
    await flush();
    worker.end(worker.begun.at(-1)!.token);
    await flush();
    expect((await store.readRun(runId))?.status).toBe("completed");
    expect(worker.outcomes).toEqual(["not_owned", "committed", "committed"]);
    expect(worker.stopped).toEqual([]);
  });

  it("and a run that another has taken is not taken back", async () => {
    const { clock, store, worker, server } = world();
    const { engine, claimer } = server("only");
    await claimer.start();
    const { runId } = await engine.start(managed());
    await store.acquireLease({
      runId,
      owner: { host: "other", bootId: "b", pid: 2, processStart: "0", engine: "other" },
      now: clock.now() + 60_000,
      expiresAt: clock.now() + 600_000,
    });
    worker.end("t1");
    await flush();
    expect(worker.outcomes).toEqual(["not_owned"]);
    clock.advance(5_000);
    await flush();
    expect(engine.ownedRuns()).toEqual([]);
  });
});

describe("trouble that stays", () => {
  it("is asked about ever more rarely: a run whose commits all fail is not taken over and over", async () => {
    const { clock, store, worker, server } = world();
    const { engine, claimer } = server("only");
    await claimer.start();
    await engine.start(managed());
    let loads = 0;
    // Each time that a run is loaded its definition is read once, its log page by page.
    const readDefinition = store.readDefinition.bind(store);
    store.readDefinition = (hash) => {
      loads += 1;
      return readDefinition(hash);
    };
    store.commit = () => Promise.reject(new Error("no space left on device"));
    worker.end("t1");
    for (let second = 0; second < 120; second += 1) {
      clock.advance(1_000);
      await flush();
    }
    expect(loads).toBeGreaterThan(3);
    expect(loads).toBeLessThan(20);
  });

  it("of a process that stood still past its lease costs nothing if nobody took its runs", async () => {
    const { clock, store, worker, server } = world();
    const { engine, claimer } = server("only");
    await claimer.start();
    const { runId } = await engine.start(managed());
    clock.standStill(300_000);
    await flush();
    clock.advance(CLAIM_POLL_MS);
    await flush();
    expect(engine.ownedRuns()).toEqual([runId]);
    expect(worker.stopped).toEqual([]);
    worker.end("t1");
    await flush();
    worker.end("t2");
    await flush();
    expect((await store.readRun(runId))?.status).toBe("completed");
    expect(worker.outcomes).toEqual(["committed", "committed"]);
  });
});
