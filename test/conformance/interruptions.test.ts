import { describe, expect, it } from "vitest";
import { Stage } from "../support/stage.js";
import { trace } from "../support/trace.js";

const SCRIPTED = `max_recoveries: 1
failure_handlers: [{ name: h, rules: [{ exit_codes: [10], recovery_script: ./fix.sh, max_retries: 2 }] }]
steps: { a: { exec: make, failure_handler: h } }`;

describe("Ctrl-C while a recovery script runs", () => {
  it("costs no recovery, however often: the script runs to its end before the retry", async () => {
    const stage = await Stage.begin(SCRIPTED, {
      a: [{ exit: 10 }, "ok"],
      "a script": [{ output: null, takesMs: 1_000 }],
    });
    for (let times = 0; times < 3; times += 1) {
      await stage.interrupt();
      await stage.resume();
    }
    const run = await stage.rest();
    expect(trace(run)).toEqual([
      "start a",
      "fail a EXIT_10",
      "climb a rule",
      "reserve a attempt 2 by h rule 1",
      "script a try 1",
      "script interrupted a",
      "script a try 1",
      "script interrupted a",
      "script a try 1",
      "script interrupted a",
      "script a try 1",
      "script over a ok",
      "start a",
      "ok a",
      "run completed",
    ]);
  });

  it("leaves the recoveries after a lost engine as they were", async () => {
    const stage = await Stage.begin(SCRIPTED, {
      a: [{ exit: 10 }, "ok"],
      "a script": [{ output: null, takesMs: 1_000 }],
    });
    stage.kill();
    await stage.resume();
    await stage.interrupt();
    await stage.resume();
    stage.kill();
    const run = await (await stage.resume()).rest();
    expect(trace(run).filter((line) => line.startsWith("script"))).toEqual([
      "script a try 1",
      "script a try 2",
      "script interrupted a",
      "script a try 2",
      "script over a failed null",
    ]);
    expect(run.run.status).toBe("completed");
  });

  it("is the script's end if the run is canceled before anybody goes on with it", async () => {
    const stage = await Stage.begin(SCRIPTED, {
      a: [{ exit: 10 }, "ok"],
      "a script": [{ output: null, takesMs: 1_000 }],
    });
    await stage.interrupt();
    expect(await stage.operate({ type: "run.cancel" })).toBeNull();
    const run = await (await stage.resume()).rest();
    expect(run.run.status).toBe("canceled");
    expect(run.order).toEqual(["a", "a script"]);
  });
});
