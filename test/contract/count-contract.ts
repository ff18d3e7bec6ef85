import { describe, expect, test } from "vitest";
import type { Append } from "../../src/store/store.js";
import { bookRow } from "./book-contract.js";
import type { StoreUnderTest } from "./store-contract.js";
import { attemptRow, jobRow, putRun } from "./store-fixtures.js";

const HOUR_MS = 3_600_000;
/** At the beginning of an hour. */
const AT = 1_699_999_200_000;

const told = (type: string, job: number, more: object) => ({
  at: AT,
  type,
  data: JSON.stringify({ type, job, attempt: 1, ...more }),
});

/** A job that failed once after 300 ms and passed 200 ms later; another that was answered by an edge. */
function fallenRun(runId: number): Partial<Append> {
  const job = (n: number): number => jobRow(runId, n).id;
  const usage = { model: "m", input_tokens: 11, output_tokens: null };
  return {
    jobs: [
      // All is counted by the name of its family.
      jobRow(runId, 1, { step: "build_1", family: "build", status: "completed", attempt_id: 2 }),
      jobRow(runId, 2, { step: "canary", status: "failed", attempt_id: 1, handled: true }),
    ],
    attempts: [
      attemptRow(runId, 1, 1, { status: "failed", started_at: AT, finished_at: AT + 300 }),
      attemptRow(runId, 1, 2, { status: "succeeded", started_at: AT + 500, finished_at: AT + 1_500 }),
      attemptRow(runId, 2, 1, { status: "failed", worker: "w2", started_at: AT, finished_at: AT + 20 }),
    ],
    book: [
      bookRow(runId, 1, { step: "build", action: "retry" }),
      bookRow(runId, 2, { step: "canary", job_id: job(2), action: "edge", code: "EXIT_4" }),
      bookRow(runId, 3, { kind: "ended", step: "build", action: "retry" }),
      bookRow(runId, 4, { kind: "ended", step: "canary", action: null, tried: ["retry", "edge"] }),
    ],
    events: [
      told("attempt.succeeded", job(1), { usage }),
      told("attempt.succeeded", job(1), { usage }),
      told("attempt.succeeded", job(2), { output: { usage } }),
      told("recovery.finished", job(1), { ok: false }),
      told("recovery.finished", job(1), { ok: true }),
    ],
  };
}

export function countContract(under: StoreUnderTest): void {
  describe("counts", () => {
    const all = { bucketMs: HOUR_MS };
    const steps = [{ definition_hash: "hash-1", step: "build" }];
    const put = (created_at: number, more: object = {}) =>
      putRun(under.store, { status: "completed", created_at, ...more }, fallenRun);

    test("are of runs by time, workflow and what they met", async () => {
      await put(AT);
      await put(AT + HOUR_MS - 1);
      await put(AT + HOUR_MS, { workflow: "other" });
      await putRun(under.store, { status: "completed", created_at: AT });
      const counted = await under.store.count("runs", all);
      const bucket = AT / HOUR_MS;
      const fell = { status: "completed", fell: true, handled: true, decided: false };
      expect(sorted(counted)).toEqual(
        sorted([
          { bucket, workflow: "release", ...fell, runs: 2 },
          { bucket: bucket + 1, workflow: "other", ...fell, runs: 1 },
          {
            bucket,
            workflow: "release",
            status: "completed",
            fell: false,
            handled: false,
            decided: false,
            runs: 1,
          },
        ]),
      );
    });

    test("are of attempts, failures and ends, with what they took", async () => {
      await put(AT);
      await put(AT);
      const of = { workflow: "release", definition_hash: "hash-1" };
      const build = { ...of, step: "build" };
      const canary = { ...of, step: "canary", worker: "w2" };
      expect(sorted(await under.store.count("attempts", all))).toEqual(
        sorted([
          { ...build, worker: "local-1", status: "failed", completed: true, attempts: 2, ms: 600 },
          { ...build, worker: "local-1", status: "succeeded", completed: true, attempts: 2, ms: 2_000 },
          { ...canary, status: "failed", completed: false, attempts: 2, ms: 40 },
        ]),
      );
      const retried = { code: "EXIT_1", class: "application", action: "retry", worker: "local-1" };
      const sent = { code: "EXIT_4", class: "application", action: "edge" };
      expect(sorted(await under.store.count("failures", all))).toEqual(
        sorted([
          { ...build, ...retried, failures: 2, lost_ms: 600, again: 2, waited_ms: 400 },
          { ...canary, ...sent, failures: 2, lost_ms: 40, again: 0, waited_ms: 0 },
        ]),
      );
      expect(sorted(await under.store.count("ends", all))).toEqual(
        sorted([
          { action: "retry", tried: [], jobs: 2 },
          { action: null, tried: ["retry", "edge"], jobs: 2 },
        ]),
      );
    });

    test("are of tokens and recovery scripts of the steps that are named", async () => {
      await put(AT);
      const { store } = under;
      expect(await store.count("usage", { ...all, steps })).toEqual([
        { workflow: "release", step: "build", model: "m", calls: 2, input_tokens: 22, output_tokens: 0 },
      ]);
      expect(await store.count("scripts", { ...all, steps })).toEqual([{ run: 2, failed: 1 }]);
      expect(await store.count("scripts", { ...all, steps: [] })).toEqual([{ run: 0, failed: 0 }]);
    });

    test("are of people's decisions, with how long each was waited for", { tags: ["W38"] }, async () => {
      const at = (ms: number, type: string, more: object) => ({
        at: AT + ms,
        type,
        data: JSON.stringify({ type, ...more }),
      });
      const log = (runId: number) => {
        const job = (n: number): number => jobRow(runId, n).id;
        return [
          at(0, "job.held", { job: job(1) }),
          at(10, "human.asked", { job: job(2) }),
          at(60, "hold.resolved", { job: job(1), action: "retry" }),
          // What a decision leads to is no second one.
          at(60, "jobs.retried", { jobs: [job(1)], action: "resolve" }),
          at(70, "attempt.started", { job: job(1) }),
          at(110, "human.answered", { job: job(2) }),
          // The second time it is a dead letter, and one that had failed goes with it.
          at(200, "job.held", { job: job(1) }),
          at(300, "jobs.retried", { jobs: [job(1), job(2), job(3)], action: "redrive" }),
          at(310, "attempt.started", { job: job(1) }),
          // Nobody decided in time.
          at(400, "job.held", { job: job(1) }),
          at(401, "human.asked", { job: job(2) }),
          at(900, "hold.resolved", { job: job(1), action: "skip", expired: true }),
          at(901, "human.answered", { job: job(2), expired: true }),
        ];
      };
      const id = await putRun(under.store, { status: "completed", created_at: AT }, (runId) => ({
        jobs: [1, 2, 3].map((n) => jobRow(runId, n)),
        events: log(runId),
      }));
      expect(sorted(await under.store.count("decisions", all))).toEqual(
        sorted([
          { kind: "hold", after_ms: 60, decisions: 1 },
          { kind: "question", after_ms: 100, decisions: 1 },
          { kind: "hold", after_ms: 100, decisions: 1 },
        ]),
      );
      expect(await under.store.count("decisions", { ...all, since: AT + 1 })).toEqual([]);
      expect(await under.store.count("decisions", { ...all, runIds: [id] })).toHaveLength(3);
    });

    test("are of the runs alone that are asked for, and never of imported ones", async () => {
      const { store } = under;
      const id = await put(AT);
      const options = { max_loops: 3, retry_max: null, failure_routing: true, only: null, imported: true };
      const imported = await put(AT, { options });
      await put(AT + HOUR_MS, { labels: { team: "it's" } });
      const runs = async (filter: object) =>
        (await store.count("runs", { ...all, ...filter })).reduce((sum, { runs: more }) => sum + more, 0);
      expect(await runs({})).toBe(2);
      expect(await runs({ runIds: [id, imported] })).toBe(1);
      expect(await runs({ since: AT + 1 })).toBe(1);
      expect(await runs({ until: AT + 1 })).toBe(1);
      expect(await runs({ workflow: "other" })).toBe(0);
      expect(await runs({ labels: [{ key: "team", value: "it's" }] })).toBe(1);
      expect(await store.count("failures", { ...all, runIds: [imported] })).toEqual([]);
      expect(await store.count("ends", { ...all, runIds: [] })).toEqual([]);
    });
  });
}

function sorted<Row>(rows: readonly Row[]): Row[] {
  const keyed = rows.map((row) => JSON.stringify(Object.entries(row as object).sort()));
  return [...rows].sort((a, b) => (keyed[rows.indexOf(a)]! < keyed[rows.indexOf(b)]! ? -1 : 1));
}
