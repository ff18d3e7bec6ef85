import { describe, expect, test } from "vitest";
import type { RunStatus } from "../../src/core/model/rows.js";
import type { EventRange, SerialisedEvent } from "../../src/store/store.js";
import type { StoreUnderTest } from "./store-contract.js";
import {
  appendTo,
  attemptRow,
  canceledEvent,
  jobRow,
  newWorkflow,
  routeRow,
  runRow,
  takeRun,
} from "./store-fixtures.js";

const BIG_TEXT_CHARS = 1_000_000;

export function readContract(under: StoreUnderTest): void {
  workflows(under);
  runs(under);
  events(under);
  reopening(under);
}

function workflows(under: StoreUnderTest): void {
  const release = newWorkflow();

  describe("a workflow", () => {
    test("that is new gets version 1, the same again the same, a changed one the next", async () => {
      const { store } = under;
      const first = await store.registerWorkflow(release);
      const again = await store.registerWorkflow({ ...release, file: null, at: 9 });
      const changed = await store.registerWorkflow({ ...release, hash: "h2", definition: "{}" });
      const back = await store.registerWorkflow(release);
      expect([first.version, changed.version]).toEqual([1, 2]);
      expect([again, back]).toEqual([first, first]);
      expect(changed.workflowId).not.toBe(first.workflowId);
    });

    test("counts its versions apart from workflows of other names", async () => {
      const { store } = under;
      const first = await store.registerWorkflow(release);
      const other = await store.registerWorkflow({ ...release, name: "deploy", hash: "h3" });
      expect([first.version, other.version]).toEqual([1, 1]);
      expect(other.workflowId).not.toBe(first.workflowId);
    });

    test("is found by its hash, and an unknown hash finds nothing", async () => {
      const { store } = under;
      await store.registerWorkflow(release);
      expect(await store.readDefinition("h1")).toBe('{"name":"release"}');
      expect(await store.readDefinition("h2")).toBeNull();
    });

    test("of two names with one hash shares the definition", async () => {
      const { store } = under;
      await store.registerWorkflow(release);
      await store.registerWorkflow({ ...release, name: "deploy" });
      expect(await store.readDefinition("h1")).toBe('{"name":"release"}');
    });
  });
}

function runs(under: StoreUnderTest): void {
  const statuses: RunStatus[] = ["running", "failed", "running", "completed", "held"];

  async function fill(): Promise<number[]> {
    const ids: number[] = [];
    for (const [i, status] of statuses.entries()) {
      const taken = await takeRun(under.store);
      const run = runRow(taken.runId, { status, workflow: i % 2 === 0 ? "even" : "odd" });
      await under.store.commit([appendTo(taken, 1, { run })]);
      ids.push(taken.runId);
    }
    return ids;
  }

  describe("runs", () => {
    test("get ids that nobody else gets", async () => {
      const ids = await Promise.all(Array.from({ length: 50 }, () => under.store.reserveRunId()));
      expect(new Set(ids).size).toBe(50);
      expect(ids.every((id) => Number.isInteger(id) && id > 0)).toBe(true);
    });

    test("are not there before their first commit", async () => {
      const { runId } = await takeRun(under.store);
      expect(await under.store.readRun(runId)).toBeNull();
      expect(await under.store.listRuns({})).toEqual([]);
    });

    test("are listed newest first", async () => {
      const ids = await fill();
      expect((await under.store.listRuns({})).map(({ id }) => id)).toEqual(ids.toReversed());
    });

    test("are filtered by status, by workflow, and by both", async () => {
      const [a, b, c, , e] = await fill();
      const list = async (filter: Parameters<typeof under.store.listRuns>[0]) =>
        (await under.store.listRuns(filter)).map(({ id }) => id);
      expect(await list({ status: ["running"] })).toEqual([c, a]);
      expect(await list({ status: ["failed", "held"] })).toEqual([e, b]);
      expect(await list({ status: [] })).toEqual([]);
      expect(await list({ workflow: "even" })).toEqual([e, c, a]);
      expect(await list({ workflow: "even", status: ["running", "failed"] })).toEqual([c, a]);
      expect(await list({ workflow: "none" })).toEqual([]);
    });

    test("are found by the job whose child runs they are, newest first", async () => {
      const { store } = under;
      const parents = [null, { run_id: 1, job_id: 10_000_001 }, { run_id: 1, job_id: 10_000_002 }];
      const ids: number[] = [];
      for (const parent of [...parents, ...parents]) {
        const taken = await takeRun(store);
        await store.commit([appendTo(taken, 1, { run: runRow(taken.runId, { parent }) })]);
        ids.push(taken.runId);
      }
      const list = async (filter: Parameters<typeof store.listRuns>[0]) =>
        (await store.listRuns(filter)).map(({ id }) => id);
      expect(await list({ parentJob: 10_000_001 })).toEqual([ids[4], ids[1]]);
      expect(await list({ parentJob: 10_000_002, limit: 1 })).toEqual([ids[5]]);
      expect(await list({ parentJob: 10_000_002, status: ["failed"] })).toEqual([]);
      expect(await list({ parentJob: 1 })).toEqual([]);
      expect(await list({ parentRun: 1 })).toEqual([ids[5], ids[4], ids[2], ids[1]]);
      expect(await list({ parentRun: 2 })).toEqual([]);
      expect(await list({})).toEqual(ids.toReversed());
    });

    test("are read page by page", async () => {
      const [a, b, c, d, e] = await fill();
      const page = async (beforeId?: number) =>
        (await under.store.listRuns({ limit: 2, ...(beforeId === undefined ? {} : { beforeId }) })).map(
          ({ id }) => id,
        );
      expect(await page()).toEqual([e, d]);
      expect(await page(d)).toEqual([c, b]);
      expect(await page(b)).toEqual([a]);
      expect(await page(a)).toEqual([]);
    });

    test("have attempts that are read all together or of one job", async () => {
      const { store } = under;
      const taken = await takeRun(store);
      const [one, two] = [1, 2].map((n) => jobRow(taken.runId, n));
      const attempts = [
        attemptRow(taken.runId, 1, 1),
        attemptRow(taken.runId, 1, 2),
        attemptRow(taken.runId, 2, 1),
      ];
      await store.commit([appendTo(taken, 1, { jobs: [one!, two!], attempts })]);
      expect(await store.readAttempts(taken.runId)).toEqual(attempts);
      expect(await store.readAttempts(taken.runId, one!.id)).toEqual(attempts.slice(0, 2));
      expect(await store.readAttempts(taken.runId, 404)).toEqual([]);
    });

    test("that are not there have no rows", async () => {
      const { store } = under;
      expect(await store.readEvents(404)).toEqual([]);
      expect(await store.readJobs(404)).toEqual([]);
      expect(await store.readAttempts(404)).toEqual([]);
      expect(await store.readRoutes(404)).toEqual([]);
      expect(await store.readLease(404)).toBeNull();
    });

    test("keep their rows apart", async () => {
      const { store } = under;
      const [one, two] = [await takeRun(store), await takeRun(store)];
      const jobs = [jobRow(one.runId, 1)];
      await store.commit([appendTo(one, 1, { jobs }), appendTo(two, 1, { events: [canceledEvent("two")] })]);
      expect(await store.readJobs(one.runId)).toEqual(jobs);
      expect(await store.readJobs(two.runId)).toEqual([]);
      expect(await store.readEvents(two.runId)).toMatchObject([{ seq: 1, event: { reason: "two" } }]);
    });
  });
}

function events(under: StoreUnderTest): void {
  describe("events", () => {
    test("are found by the one job that they are about", async () => {
      const { store } = under;
      const taken = await takeRun(store);
      const about = (job: number, reason: string): SerialisedEvent => {
        const data = JSON.stringify({ type: "human.answered", job, text: `"job":7, ${reason}\u0000` });
        return { at: 1, type: "human.answered", data };
      };
      const asked = JSON.stringify({ type: "evaluation.requested", id: 8, job: 7, code: "[".repeat(9_000) });
      const deep = `{"type":"attempt.succeeded","job":8,"output":${"[".repeat(900)}${"]".repeat(900)}}`;
      const written = [
        ...[about(7, "a"), about(77, "b"), canceledEvent("c"), about(7, "d")],
        ...[asked, deep].map((data) => ({ at: 1, type: "", data })),
      ];
      await store.commit([appendTo(taken, 1, { events: written })]);
      const seqs = async (range: EventRange) =>
        (await store.readEvents(taken.runId, range)).map(({ seq }) => seq);
      expect(await seqs({ job: 7 })).toEqual([1, 4, 5]);
      expect(await seqs({ job: 7, afterSeq: 1 })).toEqual([4, 5]);
      expect(await seqs({ job: 7, limit: 1 })).toEqual([1]);
      expect(await seqs({ job: 8 })).toEqual([6]);
      expect(await seqs({ job: 9 })).toEqual([]);
      expect(await seqs({ types: ["run.canceled"] })).toEqual([3]);
      expect(await seqs({ types: ["human.answered"], limit: 2 })).toEqual([1, 2]);
      expect(await seqs({ types: ["human.answered", "run.canceled"], afterSeq: 2 })).toEqual([3, 4]);
      expect(await seqs({ types: ["human.answered"], job: 7 })).toEqual([1, 4]);
      expect(await seqs({ types: [] })).toEqual([]);
    });

    test("come back in order with number and time, in any part that is asked for", async () => {
      const { store } = under;
      const taken = await takeRun(store);
      const written = [1, 2, 3, 4, 5].map((n) => canceledEvent(`e${n}`, 1_700_000_000_000 + n));
      await store.commit([appendTo(taken, 1, { events: written })]);
      const all = [1, 2, 3, 4, 5].map((n) => ({
        ...{ seq: n, at: 1_700_000_000_000 + n },
        event: { type: "run.canceled", reason: `e${n}` },
      }));
      expect(await store.readEvents(taken.runId)).toEqual(all);
      expect(await store.readEvents(taken.runId, { afterSeq: 3 })).toEqual(all.slice(3));
      expect(await store.readEvents(taken.runId, { limit: 2 })).toEqual(all.slice(0, 2));
      expect(await store.readEvents(taken.runId, { afterSeq: 1, limit: 2 })).toEqual(all.slice(1, 3));
      expect(await store.readEvents(taken.runId, { afterSeq: 5 })).toEqual([]);
      expect(await store.readEvents(taken.runId, { limit: 0 })).toEqual([]);
    });

    test("of a long log come back whole, all at once or by their job", async () => {
      const { store } = under;
      const taken = await takeRun(store);
      const written = Array.from({ length: 4_500 }, (_, i) => {
        const event = { type: "human.answered", job: i % 2, text: `e${i}` };
        return { at: i, type: event.type, data: JSON.stringify(event) };
      });
      await store.commit([appendTo(taken, 1, { events: written })]);
      const all = await store.readEvents(taken.runId);
      expect(all).toEqual(written.map(({ at, data }, i) => ({ seq: i + 1, at, event: JSON.parse(data) })));
      expect(await store.readEvents(taken.runId, { afterSeq: 1, limit: 4_100 })).toEqual(all.slice(1, 4_101));
      expect(await store.readEvents(taken.runId, { job: 1 })).toEqual(all.filter((_, i) => i % 2 === 1));
      expect(await store.readEvents(taken.runId, { job: 1, limit: 2_100 })).toHaveLength(2_100);
    });

    test("of a megabyte come back whole", async () => {
      const taken = await takeRun(under.store);
      const reason = "0123456789".repeat(BIG_TEXT_CHARS / 10);
      await under.store.commit([appendTo(taken, 1, { events: [canceledEvent(reason)] })]);
      expect(await under.store.readEvents(taken.runId)).toMatchObject([{ event: { reason } }]);
    });

    test("and rows keep every script, sign and control character", async () => {
      const { store } = under;
      const taken = await takeRun(store);
      const text = "だるま 🎎 é e\u0301 \u202E \\ \" ' \n\t\u0001\uFEFF";
      const jobs = [
        jobRow(taken.runId, 1, { step: text, output: { kind: "value", value: `${text}\0\uD800` } }),
      ];
      const routes = [routeRow(taken.runId, 1, { reason: text })];
      const events = [canceledEvent(`${text}\0\uD800`)];
      await store.commit([appendTo(taken, 1, { events, jobs, routes })]);
      expect(await store.readJobs(taken.runId)).toEqual(jobs);
      expect(await store.readRoutes(taken.runId)).toEqual(routes);
      expect(await store.readEvents(taken.runId)).toMatchObject([{ event: { reason: `${text}\0\uD800` } }]);
    });

    test("a reason with a NUL or half a character is kept to its end, with a sign in their place", async () => {
      const taken = await takeRun(under.store);
      const routes = [routeRow(taken.runId, 1, { reason: "a\0b\uD800c🎎" })];
      await under.store.commit([appendTo(taken, 1, { routes })]);
      expect(await under.store.readRoutes(taken.runId)).toMatchObject([{ reason: "a\uFFFDb\uFFFDc🎎" }]);
    });

    test("routes come back in the order of their events", async () => {
      const taken = await takeRun(under.store);
      const [first, second] = [routeRow(taken.runId, 1), routeRow(taken.runId, 2)];
      await under.store.commit([appendTo(taken, 1, { routes: [second, first] })]);
      expect(await under.store.readRoutes(taken.runId)).toEqual([first, second]);
    });
  });
}

function reopening(under: StoreUnderTest): void {
  describe("opening again", () => {
    test("shows all that was committed, and numbering goes on", async () => {
      const { store } = under;
      const taken = await takeRun(store);
      const jobs = [jobRow(taken.runId, 1)];
      await store.registerWorkflow(newWorkflow({ name: "w", hash: "h", definition: "{}", file: null }));
      await store.commit([appendTo(taken, 1, { jobs, routes: [routeRow(taken.runId, 1)] })]);
      const command = { runId: taken.runId, key: "k", command: "{}", at: 1 };
      const commandId = await store.sendCommand(command);
      const again = await under.reopen();
      expect(await again.readRun(taken.runId)).toEqual(runRow(taken.runId));
      expect(await again.readJobs(taken.runId)).toEqual(jobs);
      expect(await again.readEvents(taken.runId)).toHaveLength(1);
      expect(await again.readRoutes(taken.runId)).toHaveLength(1);
      expect(await again.readLease(taken.runId)).toMatchObject({ fence: taken.fence });
      expect(await again.readDefinition("h")).toBe("{}");
      expect(await again.sendCommand(command)).toBe(commandId);
      expect(await again.reserveRunId()).toBeGreaterThan(taken.runId);
      await again.commit([appendTo(taken, 2)]);
    });

    test("what was called before closing is done, what is called after is refused", async () => {
      const { store } = under;
      const taken = await takeRun(store);
      const pending = store.commit([appendTo(taken, 1)]);
      const closing = store.close();
      await expect(store.readRun(taken.runId)).rejects.toMatchObject({ code: "STORE_FAILED" });
      await Promise.all([pending, closing]);
      await store.close();
      expect(await (await under.reopen()).readEvents(taken.runId)).toHaveLength(1);
    });
  });
}
