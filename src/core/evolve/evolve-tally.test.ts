import { describe, expect, it } from "vitest";
import type { RouteRow } from "../model/rows.js";
import { newRecoveryCount } from "../tally/run-tally.js";
import { countRecovery } from "./evolve-tally.js";

type Route = Pick<RouteRow, "job_id" | "step" | "scope" | "rung" | "to">;

const route = (step: string, rung: Route["rung"], job_id = 1, scope = "root", to = step): Route => ({
  ...{ step, rung, job_id, scope, to },
});

describe("recoveries that a run counts as they happen", () => {
  it("are one for retries of a visit, and another for the next visit or after another rung", () => {
    const count = newRecoveryCount();
    countRecovery(count, route("a", "retry"), 1);
    countRecovery(count, route("a", "retry"), 1);
    expect(count).toMatchObject({ total: 1, first: [{ step: "a", rung: "retry", times: 2 }] });
    countRecovery(count, route("a", "retry"), 2);
    countRecovery(count, route("a", "remediate", 1, "root", "fix"), 2);
    countRecovery(count, route("a", "retry"), 2);
    expect(count.total).toBe(4);
  });

  it("are one for branches that recover alike, and the second time in a branch is the second for all", () => {
    const count = newRecoveryCount();
    for (const job of [1, 2, 3]) countRecovery(count, route("shard", "requeue", job, `root/all[${job}]`), 1);
    expect(count.total).toBe(1);
    countRecovery(count, route("shard", "requeue", 2, "root/all[2]"), 1);
    countRecovery(count, route("shard", "requeue", 3, "root/all[3]"), 1);
    expect(count).toMatchObject({ total: 2, first: [{ times: 3 }, { times: 2 }] });
  });
});
