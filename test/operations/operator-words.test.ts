import { afterEach, describe, expect, it } from "vitest";
import { OperationBench } from "../support/operation-bench.js";

const NAME = "OPERATOR_WORDS_TEST_SECRET";
const VALUE = "supersecretvalue123";
const SECRETIVE = `name: secretive\nsecrets: [${NAME}]\nunhandled: hold\nsteps: { a: { type: command, exec: "exit 3" } }`;
const LACKING = {
  code: "MISSING_SECRET",
  message: `not set in the environment: ${NAME}; the hint may contain its value`,
};

const bench = new OperationBench();

afterEach(() => {
  delete process.env[NAME];
});

async function held() {
  process.env[NAME] = VALUE;
  const run = await bench.run(SECRETIVE);
  delete process.env[NAME];
  return { run_id: run.run_id, job_id: run.jobs[0]!.id };
}

async function logOf(run_id: number): Promise<string> {
  return JSON.stringify(await bench.context.store.readEvents(run_id));
}

describe("where a secret of the run is not set", () => {
  it("no hint is taken: its value could not be hidden", async () => {
    const { run_id, job_id } = await held();
    const hint = `x ${VALUE}`;
    const asked = [
      bench.call("control_run", { run_id, action: "retry_step", step_id: "a", hint }),
      bench.call("update_job", { job_id, status: "ready", hint }),
      bench.call("start_campaign", { run_id, hint }),
    ];
    for (const each of asked) await expect(each).rejects.toMatchObject(LACKING);
    expect(await logOf(run_id)).not.toContain(VALUE);
  });

  it("everything can be asked for without a hint, for a reason", async () => {
    const { run_id } = await held();
    await bench.call("control_run", { run_id, action: "retry_step", step_id: "a", reason: "mended" });
    const again = await bench.until(run_id, (run) => run.status === "held" && run.jobs[0]!.attempts === 2);
    expect(again.status).toBe("held");
    const classification = { job_id: again.jobs[0]!.id, action: "complete" } as const;
    await bench.call("resolve_holds", { classifications: [classification] });
    expect((await bench.settled(run_id)).status).toBe("completed");
  });
});

describe("a hint", () => {
  it("is kept without what a terminal would obey, lines and tabs as they are", async () => {
    const { run_id } = await held();
    process.env[NAME] = VALUE;
    const hint = "red \u001b[31mand\u001b[0m\u0007 \u202eback\r\n\tsuper\u001b[1msecretvalue123";
    await bench.call("control_run", { run_id, action: "retry_step", step_id: "a", hint });
    const log = await bench.context.store.readEvents(run_id, { types: ["hold.resolved", "jobs.retried"] });
    expect(log.map(({ event }) => event)).toMatchObject([{ hint: `red and back\n\t[redacted:${NAME}]` }]);
  });

  it("of nothing that can be seen is refused as empty", async () => {
    const { run_id } = await held();
    process.env[NAME] = VALUE;
    for (const hint of ["   ", "\n\t", "\u001b[31m \u202e"])
      await expect(
        bench.call("control_run", { run_id, action: "retry_step", step_id: "a", hint }),
      ).rejects.toMatchObject({ issues: [{ path: ["hint"] }] });
  });
});
