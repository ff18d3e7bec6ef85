import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Job } from "../run.js";
import { type KindOf, type ReadyJobs, readyJobs } from "./ready-jobs.js";

/** Of a job only what the queue looks at. */
const jobOf = (id: number, kind: string, gpus = 0): Job =>
  ({ id, kind, raised: null, step: { definition: { resources: { gpus } } } }) as unknown as Job;
const kindOf: KindOf = (job) => (job as unknown as { kind: string }).kind;
const never = (): boolean => false;
const ids = (jobs: Iterable<Job>): number[] => [...jobs].map(({ id }) => id);
const fill = (jobs: readonly Job[], ready: ReadyJobs = readyJobs(undefined)): ReadyJobs => {
  for (const job of jobs) ready.add(job);
  return ready;
};

describe("jobs that can start", () => {
  it("come in the order in which they became ready, whatever their kinds", () => {
    const ready = fill([jobOf(3, "a"), jobOf(1, "b"), jobOf(2, "a")]);
    expect(ids(ready)).toEqual([3, 1, 2]);
    expect(ids(ready.inTurn(kindOf, never))).toEqual([3, 1, 2]);
    ready.add(jobOf(4, "b"));
    expect(ids(ready)).toEqual([3, 1, 2, 4]);
  });

  it("are passed over together once one of their kind is out: the others are not looked at", () => {
    const many = Array.from({ length: 1_000 }, (_, index) => jobOf(index, index % 100 === 99 ? "b" : "a"));
    const ready = fill(many);
    let asked = 0;
    const isOut = (job: Job): boolean => {
      asked += 1;
      return kindOf(job) === "a";
    };
    expect(ids(ready.inTurn(kindOf, isOut))).toEqual([99, 199, 299, 399, 499, 599, 699, 799, 899, 999]);
    expect(asked).toBe(11);
  });

  it("of more kinds than have queues of their own are all there, in order", () => {
    const ready = fill(Array.from({ length: 300 }, (_, index) => jobOf(index, `kind ${index % 150}`)));
    expect(ids(ready.inTurn(kindOf, never))).toEqual(Array.from({ length: 300 }, (_, index) => index));
    expect(ready.size).toBe(300);
  });

  it("leave the queue in which they are, even if they ask for more by now", () => {
    const job = jobOf(1, "small");
    const ready = fill([job, jobOf(2, "small")]);
    expect(ids(ready.inTurn(kindOf, never))).toEqual([1, 2]);
    (job as unknown as { kind: string }).kind = "large";
    expect(ready.has(job)).toBe(true);
    expect(ready.delete(job)).toBe(true);
    expect(ready.delete(job)).toBe(false);
    expect(ids(ready)).toEqual([2]);
  });

  it("can be taken out, and join, while somebody goes through them: also the first of a kind, and one of a kind that was through", () => {
    const [second, last] = [jobOf(2, "b"), jobOf(5, "c")];
    const ready = fill([jobOf(1, "a"), second, jobOf(3, "a"), last]);
    const seen: number[] = [];
    for (const job of ready.inTurn(kindOf, never)) {
      seen.push(job.id);
      ready.delete(job);
      if (job.id === 1) ready.delete(second);
      if (job.id === 3) for (const id of [6, 7]) ready.add(jobOf(id, id === 6 ? "new" : "b"));
      if (job.id === 5) ready.add(job);
      if (seen.length === 6) break;
    }
    expect(seen).toEqual([1, 3, 5, 6, 7, 5]);
  });

  it("that ask for most come first where the file says so, and kinds are passed over there too", () => {
    const ready = fill(
      [jobOf(1, "a"), jobOf(2, "b", 2), jobOf(3, "a"), jobOf(4, "c", 2)],
      readyJobs("gpus_runtime_memory"),
    );
    expect(ids(ready)).toEqual([2, 4, 1, 3]);
    expect(ids(ready.inTurn(kindOf, (job) => kindOf(job) === "b"))).toEqual([4, 1, 3]);
  });

  it("are what a plain set would have, after any additions, removals and turns", () => {
    const change = fc.record({
      what: fc.constantFrom("add", "delete", "turn" as const),
      id: fc.nat(20),
      kind: fc.nat(90),
    });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 200 }), (changes) => {
        const known = new Map<number, Job>();
        const [ready, model] = [readyJobs(undefined), new Set<Job>()];
        for (const { what, id, kind } of changes) {
          const job = known.get(id) ?? jobOf(id, String(kind));
          known.set(id, job);
          if (what === "add") for (const each of [ready, model]) each.add(job);
          else if (what === "delete") expect(ready.delete(job)).toBe(model.delete(job));
          else expect(ids(ready.inTurn(kindOf, never))).toEqual(ids(model));
          expect([ready.size, ready.has(job)]).toEqual([model.size, model.has(job)]);
        }
        expect(ids(ready)).toEqual(ids(model));
      }),
    );
  });
});
