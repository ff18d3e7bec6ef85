import postgres from "postgres";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { inspectPostgres } from "../../src/store/inspect/inspect-postgres.js";
import { openPostgresStore, type PostgresOptions } from "../../src/store/postgres/postgres-store.js";
import { SCHEMA_VERSION } from "../../src/store/schema-version.js";
import type { Store, StoreChange } from "../../src/store/store.js";
import { CuttingProxy } from "../support/cutting-proxy.js";
import { freshSchema } from "../support/embedded-postgres.js";
import { HANG_MS } from "../support/hang.js";
import { PostgresServer } from "../support/postgres-server.js";
import {
  appendTo,
  canceledEvent,
  jobRow,
  mustAcquire,
  OWNER,
  RIVAL,
  runRow,
  takeRun,
} from "./store-fixtures.js";

const COMMITS = 300;

let server: PostgresServer;
let schema = "";
let opened: Store[] = [];

beforeAll(async () => {
  server = await PostgresServer.create();
});
afterAll(() => server.remove());
beforeEach(() => {
  schema = freshSchema();
  opened = [];
});
afterEach(async () => {
  for (const store of opened) await store.close();
});

async function open(url = server.url(), more: Partial<PostgresOptions> = {}): Promise<Store> {
  const store = await openPostgresStore({ url, schema, leaseClock: "caller", ...more });
  opened.push(store);
  return store;
}

async function ask<Row>(text: string): Promise<Row[]> {
  const sql = postgres(server.url(), { max: 1, connection: { search_path: schema } });
  const rows = await sql.unsafe(text);
  await sql.end();
  return rows as unknown as Row[];
}

describe("a server that goes away", () => {
  test.each(["fast", "immediate"] as const)(
    "in the middle of commits (%s) loses nothing that was acknowledged and writes nothing twice",
    async (mode) => {
      const store = await open();
      const runs = [await takeRun(store), await takeRun(store), await takeRun(store)];
      let acknowledged = 0;
      const writers = runs.map(async (run) => {
        for (let seq = 1; seq <= COMMITS; seq += 1) {
          await store.commit([appendTo(run, seq, { jobs: [jobRow(run.runId, seq)] })]);
          acknowledged += 1;
        }
      });
      for (const mark of [50, 250, 600]) {
        await vi.waitUntil(() => acknowledged >= mark, { timeout: HANG_MS, interval: 1 });
        await server.restart(mode);
      }
      await Promise.all(writers);
      const expected = Array.from({ length: COMMITS }, (_, i) => [i + 1, `event ${i + 1}`]);
      for (const { runId } of runs) {
        const log = await store.readEvents(runId);
        expect(log.map(({ seq, event }) => [seq, "reason" in event ? event.reason : null])).toEqual(expected);
        expect(await store.readJobs(runId)).toHaveLength(COMMITS);
      }
    },
  );

  test("is waited for by everything that is asked meanwhile", async () => {
    const store = await open();
    const run = await takeRun(store);
    await store.commit([appendTo(run, 1)]);
    await server.stop();
    const answers = Promise.all([
      store.readEvents(run.runId),
      store.renewLeases([run], 0, 9),
      store.commit([appendTo(run, 2)]),
      store.registerWorkflow({
        name: "w",
        hash: "h",
        definition: "{}",
        file: null,
        at: 1,
        failureHandlers: [],
      }),
      store.saveDraft({ name: "d", source: "s", basedOn: 0, at: 1 }),
      store.sendCommand({ runId: run.runId, key: "k", command: "{}", at: 1 }),
    ]);
    await server.start();
    const [events, renewed, , workflow, draft, command] = await answers;
    expect(events.length).toBeGreaterThan(0);
    expect(renewed).toEqual([]);
    expect(workflow).toMatchObject({ version: 1 });
    expect(draft).toMatchObject({ saved: true, draft: { revision: 1 } });
    expect(command).toBe(1);
    expect(await store.readEvents(run.runId)).toHaveLength(2);
  });
});

describe("a connection that breaks", () => {
  let proxy: CuttingProxy;
  let store: Store;

  beforeEach(async () => {
    proxy = await CuttingProxy.to(server.port);
    store = await open(server.url().replace(String(server.port), String(proxy.port)));
  });
  afterEach(async () => {
    await store.close();
    await proxy.close();
  });

  test("before a commit has arrived makes it late, not lost", async () => {
    const run = await takeRun(store);
    proxy.cutNext("question", "mark-1");
    await store.commit([appendTo(run, 1, { events: [canceledEvent("mark-1")] })]);
    expect(proxy.hasCut).toBe(true);
    expect(await store.readEvents(run.runId)).toMatchObject([{ seq: 1, event: { reason: "mark-1" } }]);
  });

  test("before the answer to a commit has arrived does not make it fail, nor be written twice", async () => {
    const run = await takeRun(store);
    proxy.cutNext("answer", "mark-2");
    const routes = [{ ...routeOf(run.runId), reason: "mark-2" }];
    await store.commit([appendTo(run, 1, { events: [canceledEvent("a"), canceledEvent("b")], routes })]);
    expect(proxy.hasCut).toBe(true);
    expect(await store.readEvents(run.runId)).toHaveLength(2);
    expect(await store.readRoutes(run.runId)).toEqual(routes);
    await store.commit([appendTo(run, 3)]);
  });

  test("with several commits under way keeps each of them once, in their order", async () => {
    const run = await takeRun(store);
    proxy.cutNext("answer", "event 5");
    const seqs = Array.from({ length: 20 }, (_, i) => i + 1);
    await Promise.all(seqs.map((seq) => store.commit([appendTo(run, seq)])));
    expect(proxy.hasCut).toBe(true);
    expect((await store.readEvents(run.runId)).map(({ seq }) => seq)).toEqual(seqs);
  });

  test("while nothing is asked makes the next commit late, not lost", async () => {
    const run = await takeRun(store);
    await store.commit([appendTo(run, 1)]);
    proxy.resetAll();
    await Promise.all([store.commit([appendTo(run, 2)]), store.readRun(run.runId)]);
    expect(await store.readEvents(run.runId)).toHaveLength(2);
  });

  test("before an answer that was a refusal leaves it a refusal", async () => {
    const run = await takeRun(store);
    await store.commit([appendTo(run, 1)]);
    proxy.cutNext("answer", "mark-3");
    const late = appendTo(run, 1, { events: [canceledEvent("mark-3")] });
    await expect(store.commit([late])).rejects.toMatchObject({ code: "LEASE_LOST" });
    expect(proxy.hasCut).toBe(true);
    expect(await store.readEvents(run.runId)).toMatchObject([{ event: { reason: "event 1" } }]);
  });

  test("before an answer does not turn what was done into a refusal", async () => {
    const run = await takeRun(store);
    await store.commit([appendTo(run, 1, { run: runRow(run.runId, { status: "completed" }) })]);
    await store.releaseLease(run.runId, run.fence);
    proxy.cutNext("answer", "hash-of-a-token");
    const token = await store.putToken({
      name: "t",
      role: "viewer",
      hash: "hash-of-a-token",
      at: 5,
      expiresAt: null,
    });
    expect(await store.listTokens()).toEqual([token]);
    proxy.cutNext("answer", "text-of-a-draft");
    const draft = { name: "d", source: "text-of-a-draft", basedOn: 0, at: 7 };
    expect(await store.saveDraft(draft)).toMatchObject({ saved: true, draft: { revision: 1 } });
    expect(proxy.hasCut).toBe(true);
  });

  function routeOf(runId: number) {
    const at = { run_id: runId, seq: 1, at: 1, job_id: runId * 10_000_000 + 1 };
    return { ...at, step: "a", scope: "root", attempt: 1, rung: "goto" as const, to: "b" };
  }
});

describe("two stores on one database", () => {
  test("never claim the same run, and leave none", async () => {
    const [a, b] = [await open(), await open()];
    const ids: number[] = [];
    for (let n = 0; n < 40; n += 1) {
      const taken = await takeRun(a);
      await a.commit([appendTo(taken, 1, { run: runRow(taken.runId, { managed: true, wanted: true }) })]);
      await a.releaseLease(taken.runId, taken.fence);
      ids.push(taken.runId);
    }
    const claims = await Promise.all(
      Array.from({ length: 20 }, (_, n) => {
        const owner = n % 2 === 0 ? OWNER : RIVAL;
        return (n % 2 === 0 ? a : b).claimRuns({ owner, now: 1, expiresAt: 100, limit: 4 });
      }),
    );
    const later = await b.claimRuns({ owner: RIVAL, now: 1, expiresAt: 100, limit: 100 });
    const claimed = [...claims, later].flat().map(({ runId }) => runId);
    expect(claimed.sort((x, y) => x - y)).toEqual(ids);
  });

  test("a claim passes over a run that is being written, without waiting for it", async () => {
    const store = await open();
    const [busy, free] = [await takeRun(store), await takeRun(store)];
    for (const taken of [busy, free]) {
      await store.commit([appendTo(taken, 1, { run: runRow(taken.runId, { managed: true, wanted: true }) })]);
      await store.releaseLease(taken.runId, taken.fence);
    }
    const sql = postgres(server.url(), { max: 1, connection: { search_path: schema } });
    await sql.begin(async (transaction) => {
      await transaction`SELECT 1 FROM lease WHERE run_id = ${busy.runId} FOR UPDATE`;
      const claimed = await store.claimRuns({ owner: OWNER, now: 1, expiresAt: 100, limit: 10 });
      expect(claimed).toEqual([{ runId: free.runId, fence: free.fence + 1 }]);
    });
    await sql.end();
    const claimed = await store.claimRuns({ owner: OWNER, now: 1, expiresAt: 100, limit: 10 });
    expect(claimed).toEqual([{ runId: busy.runId, fence: busy.fence + 1 }]);
  });

  test("a lease goes to one of many who ask at once", async () => {
    const stores = [await open(), await open()];
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, n) =>
        stores[n % 2]?.acquireLease({ runId: 7, owner: { ...OWNER, pid: n }, now: 1, expiresAt: 50 }),
      ),
    );
    expect(answers.filter((answer) => answer?.granted)).toEqual([{ granted: true, fence: 1 }]);
  });

  test("an owner who was replaced through the other store is refused at its next commit", async () => {
    const [a, b] = [await open(), await open()];
    const run = await takeRun(a);
    await a.commit([appendTo(run, 1)]);
    await a.releaseLease(run.runId, run.fence);
    const fence = await mustAcquire(b, run.runId, RIVAL);
    await expect(a.commit([appendTo(run, 2)])).rejects.toMatchObject({
      code: "LEASE_LOST",
      message: `run ${run.runId} was written with token ${run.fence}, but token ${fence} holds it now`,
    });
    await b.commit([appendTo({ ...run, fence }, 2)]);
  });

  test("commits of the same runs in opposite order never wait for each other in a circle", async () => {
    const stores = [await open(), await open()];
    const runs = [await takeRun(stores[0]!), await takeRun(stores[0]!)];
    await stores[0]!.commit(runs.map((run) => appendTo(run, 1)));
    const jobsOf = (round: number) =>
      runs.map((run) => appendTo(run, 2, { events: [], jobs: [jobRow(run.runId, 1, { visit: round })] }));
    const write = async (store: Store, turned: boolean) => {
      for (let round = 1; round <= 100; round += 1) {
        await store.commit(turned ? jobsOf(round).toReversed() : jobsOf(round));
      }
    };
    await Promise.all([write(stores[0]!, false), write(stores[1]!, true)]);
    const [counted] = await ask<{ deadlocks: string }>(
      "SELECT pg_stat_force_next_flush(), deadlocks FROM pg_stat_database WHERE datname = current_database()",
    );
    expect(Number(counted?.deadlocks)).toBe(0);
  });
});

describe("a listener", () => {
  test("hears of another store's commits, commands, answers and wishes, also after the server was away", async () => {
    const [writer, reader] = [await open(), await open()];
    const heard: StoreChange[] = [];
    reader.onChange((change) => heard.push(change));
    const run = await takeRun(writer);
    await writer.commit([appendTo(run, 1)]);
    const hears = async (kind: StoreChange["kind"], cause: () => Promise<unknown>, runId = run.runId) => {
      heard.length = 0;
      // The listening connection comes up by itself, so the cause is repeated until it does.
      await vi.waitUntil(
        async () => {
          await cause();
          return heard.some((change) => change.kind === kind && change.runId === runId);
        },
        { timeout: HANG_MS, interval: 20 },
      );
    };
    let seq = 1;
    const commit = (wanted: boolean) =>
      writer.commit([appendTo(run, ++seq, { run: runRow(run.runId, { managed: true, wanted }) })]);
    await hears("events", () => commit(false));
    await hears("wanted", () => commit(true));
    let key = 0;
    const send = () => writer.sendCommand({ runId: run.runId, key: String(++key), command: "{}", at: 1 });
    await hears("inbox", send);
    let hash = 0;
    const revoke = async () => {
      const token = { name: "t", role: "viewer", hash: String(++hash), at: 1, expiresAt: null };
      await writer.revokeToken((await writer.putToken(token)).id, 2);
    };
    await hears("revoked", revoke, 0);
    await hears("answer", async () => writer.answerCommand(await send(), "done"));
    await hears("wanted", () => writer.releaseLease(run.runId, run.fence));
    await server.restart();
    await hears("inbox", send);
  });

  test("hears of a commit of its own store at once, and not again from the database", async () => {
    const [store, other] = [await open(), await open()];
    const heard: StoreChange[] = [];
    store.onChange((change) => heard.push(change));
    const run = await takeRun(store);
    let key = 0;
    const hearOtherOf = (runId: number) =>
      vi.waitUntil(
        async () => {
          await other.sendCommand({ runId, key: String(++key), command: "{}", at: 1 });
          return heard.some((change) => change.runId === runId);
        },
        { timeout: HANG_MS, interval: 20 },
      );
    await hearOtherOf(77);
    const ownEvents = () => heard.filter(({ kind }) => kind === "events");
    await store.commit([appendTo(run, 1)]);
    expect(ownEvents()).toEqual([{ kind: "events", runId: run.runId }]);
    // The database tells of commits in their order: after this one the own one would have come.
    await hearOtherOf(78);
    expect(ownEvents()).toHaveLength(1);
  });
});

describe("opening", () => {
  test("by five at once makes the tables once", async () => {
    const stores = await Promise.all(Array.from({ length: 5 }, () => open()));
    const ids = await Promise.all(stores.map((store) => store.reserveRunId()));
    expect(ids.sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 5]);
    expect(await ask("SELECT version FROM schema_version")).toEqual([{ version: SCHEMA_VERSION }]);
  });

  test.each([SCHEMA_VERSION - 1, SCHEMA_VERSION + 1])(
    "refuses a schema of version %i and leaves it alone",
    { tags: ["D5"] },
    async (version) => {
      await open();
      await ask(`UPDATE schema_version SET version = ${version}`);
      await expect(open()).rejects.toMatchObject({
        ...{ code: "STORE_VERSION", message: expect.stringContaining(`version ${version}`) },
        hint: expect.stringContaining("--store"),
      });
      expect(await ask("SELECT version FROM schema_version")).toEqual([{ version }]);
    },
  );

  test("is not done by looking: a schema that is looked at is not made", async () => {
    expect(await inspectPostgres(`${server.url()}?schema=${schema}`)).toMatchObject({ version: null });
    expect(await ask(`SELECT 1 FROM pg_namespace WHERE nspname = '${schema}'`)).toEqual([]);
  });

  test("refuses a schema of another program and leaves it alone", async () => {
    await ask(`CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.invoice (id integer)`);
    await expect(open()).rejects.toMatchObject({
      code: "STORE_FAILED",
      message: expect.stringContaining("belongs to another program"),
    });
    const tables = await ask(`SELECT tablename FROM pg_tables WHERE schemaname = '${schema}'`);
    expect(tables).toEqual([{ tablename: "invoice" }]);
  });

  test("takes the schema from the URL", async () => {
    const store = await openPostgresStore({ url: `${server.url()}?schema=${schema}` });
    await store.reserveRunId();
    await store.close();
    expect(await ask("SELECT last_value FROM run_id")).toEqual([{ last_value: "1" }]);
  });

  test.each([
    [
      "a wrong password",
      (url: string) => url.replace(server.password, "wrong-secret"),
      "password authentication",
    ],
    ["no such database", (url: string) => `${url}_missing`, "does not exist"],
    ["nobody there", (url: string) => url.replace(String(server.port), "1"), "cannot be reached"],
    ["a text that is no URL", () => "postgres://u:wrong-secret@[", "not a URL"],
    ["a schema that is no name", (url: string) => `${url}?schema=a;b`, "cannot be the name"],
  ])("with %s says so, and never the password", async (_, change, words) => {
    const error: unknown = await openPostgresStore({ url: change(server.url()) }).catch((refusal) => refusal);
    expect(error).toMatchObject({ name: "DarumaError", code: "STORE_FAILED", hint: expect.any(String) });
    expect(String(error)).toContain(words);
    const everything = `${String(error)} ${JSON.stringify(error)} ${error instanceof Error ? error.stack : ""}`;
    for (const secret of [server.password, "wrong-secret"]) expect(everything).not.toContain(secret);
  });
});
