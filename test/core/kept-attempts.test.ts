import { describe, expect, it } from "vitest";
import { Bench } from "./bench.js";

const TWO = `steps:
  near: { exec: make }
  far: { exec: make }
  last: { exec: make, depends_on: [near, far] }`;

function bothRunning(): Bench {
  const bench = new Bench(TWO);
  bench.start("near", "far");
  return bench;
}

describe("a run that is taken over while attempts go on elsewhere", () => {
  it("loses only the attempts that are gone", () => {
    const bench = bothRunning();
    const [near, far] = [bench.job("near").id, bench.job("far").id];
    const events = bench.take({ type: "run.resume", kept: [far] });
    expect(events.map(({ type }) => type)).toEqual([
      "run.resumed",
      "attempt.failed",
      "ladder.climbed",
      "restart.granted",
      "jobs.ready",
    ]);
    expect(events[0]).toEqual({ type: "run.resumed", lost: [{ job: near, attempt: 1 }] });
    expect(bench.status("near", "far")).toEqual(["ready", "running"]);
  });

  it("takes the report of a kept attempt as that attempt's", () => {
    const bench = bothRunning();
    bench.take({ type: "run.resume", kept: [bench.job("near").id, bench.job("far").id] });
    bench.succeed("far");
    bench.succeed("near");
    expect(bench.status("near", "far", "last")).toEqual(["completed", "completed", "ready"]);
    expect(bench.events.filter(({ type }) => type === "attempt.started")).toHaveLength(2);
  });

  it("leaves a recovery script alone that goes on elsewhere", () => {
    const bench = new Bench(`failure_handlers:
  - { name: mend, rules: [{ exit_codes: [1], recovery_script: ./mend.sh }] }
steps: { a: { exec: make, failure_handler: mend } }`);
    bench.start("a");
    bench.fail("a");
    const { id } = bench.job("a");
    expect(bench.take({ type: "run.resume", kept: [id] })).toEqual([{ type: "run.resumed", lost: [] }]);
    expect(bench.take({ type: "run.resume", kept: [] })).toMatchObject([
      { type: "run.resumed", lost: [] },
      { type: "recovery.started", try: 2 },
    ]);
  });

  it("is let go of with what goes on; only the rest is ready again", () => {
    const bench = bothRunning();
    const events = bench.take({ type: "run.interrupt", kept: [bench.job("far").id] });
    expect(events.map((event) => ("job" in event ? event.job : event.type))).toEqual([
      bench.job("near").id,
      "jobs.ready",
    ]);
    expect(bench.status("near", "far")).toEqual(["ready", "running"]);
  });

  it("cancels a kept attempt that was being ended when its report comes", () => {
    const bench = bothRunning();
    bench.take({ type: "run.cancel", reason: "enough", key: null });
    bench.take({ type: "run.resume", kept: [bench.job("far").id] });
    expect(bench.run.status).toBe("running");
    bench.stop("far");
    expect(bench.run.status).toBe("canceled");
  });
});
