import { expect, it } from "vitest";
import { collectGarbage } from "../../../test/support/collect-garbage.js";
import { PoolBench, report, settle } from "../../../test/support/pool-bench.js";

const bench = new PoolBench();
const INSTANCE = "aaaaaaaa-0000";
/** How attempts end, in turn. */
const ENDS = ["succeeded", "failed", "stopped", "stale", "lost", "unsent"] as const;

let serial = 0;
const begun: WeakRef<object>[] = [];

/** One attempt from its place to its end, of which nothing is kept here. */
async function work(id: string, how: (typeof ENDS)[number]): Promise<void> {
  const token = `t${++serial}`;
  const assignment = { token, jobId: 10_000_000 + serial, env: { NAME: "x".repeat(1_000) } };
  const { controller, settle: settled } = bench.execute(assignment);
  begun.push(new WeakRef(assignment.env), new WeakRef(controller));
  if (how === "unsent") return controller.abort("stopped");
  await bench.claim(id);
  if (how === "lost") {
    const mine = { job: assignment.jobId, attempt: 1, recovery: false, token };
    for (const attempts of [[mine], [], []]) bench.desk.heartbeat(id, { attempts, draining: false });
    return;
  }
  if (how === "stopped") controller.abort("stopped");
  const outcome =
    how === "failed"
      ? ({ kind: "failed", facts: { message: "no", exitCode: 1 } } as const)
      : how === "stopped"
        ? ({ kind: "stopped" } as const)
        : report().outcome;
  const answered = bench.reportAndClaim(id, report({ token, job: assignment.jobId, outcome }));
  await settle();
  settled(how === "stale" ? "stale" : "committed");
  await answered;
}

/** Every object that can be reached from this one by its fields and what its maps, sets and lists hold. */
function objectsIn(root: object): number {
  const seen = new Set<object>();
  const waiting: unknown[] = [root];
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (typeof value !== "object" || value === null || seen.has(value)) continue;
    seen.add(value);
    if (value instanceof Map) waiting.push(...value.keys(), ...value.values());
    else if (value instanceof Set) waiting.push(...value);
    else waiting.push(...Object.values(value));
  }
  return seen.size;
}

it("keeps nothing but its outcome of an attempt that is over, however it ended", async () => {
  const id = bench.register({ instance: INSTANCE });
  const round = async (): Promise<number> => {
    for (const how of ENDS) await work(id, how);
    return objectsIn(bench.pool);
  };
  const first = await round();
  for (let rounds = 0; rounds < 20; rounds += 1) expect(await round()).toBe(first);
  await settle();
  await collectGarbage();
  expect(begun.length).toBe(2 * 21 * ENDS.length);
  expect(begun.filter((ref) => ref.deref() !== undefined)).toHaveLength(0);
});
