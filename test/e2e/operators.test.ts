import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { CliFolder, type Report } from "../support/cli-folder.js";

const cli = new CliFolder();

/** `slow` runs until the file `flag` is there. */
function slow(flag: string): string {
  return `
name: slow
steps:
  slow: { type: command, exec: "while [ ! -f ${flag} ]; do sleep 0.02; done" }
  next: { type: command, exec: "echo next", depends_on: [slow] }
`;
}

async function statusOf(run: string): Promise<string> {
  return (await cli.json<Report>("show", run)).value.status;
}

describe("pause", () => {
  it("from a second process lets what runs end, starts nothing new, exits 3; resume goes on", async () => {
    const running = cli.start("run", cli.write("pause.yaml", slow("pause-go")));
    const [, id = ""] = await running.until(/run (\d+) of slow started[\s\S]*slow started/);
    const paused = await cli.daruma("pause", id, "--reason", "lunch");
    expect(paused.exitCode).toBe(0);
    expect(paused.stdout).toMatch(new RegExp(`^run ${id} is paused; running steps may finish \\(1\\)\n`));
    cli.write("pause-go", "");
    expect(await running.ended).toBe(3);
    expect(running.text).toContain(`run ${id} is paused: lunch`);
    expect(running.text).toMatch(/^‖ run \d+ of slow paused: 1 completed, 1 ready\nnext: daruma resume /m);
    expect((await cli.daruma("explain", id)).stdout).toMatch(
      /Somebody paused it after .* \("lunch"\): nothing new was started\./,
    );
    const { exitCode, report } = await cli.resume(Number(id));
    expect(exitCode).toBe(0);
    expect(report.jobs.map(({ status, attempts }) => [status, attempts])).toEqual([
      ["completed", 1],
      ["completed", 1],
    ]);
  });

  it("is lifted where the run's process still lives, which goes on with it", async () => {
    const running = cli.start("run", cli.write("lift.yaml", slow("lift-go")));
    const [, id = ""] = await running.until(/run (\d+) of slow started[\s\S]*slow started/);
    await cli.daruma("takeover", id, "--reason", "mine");
    await running.until(/is taken over: mine/);
    expect((await cli.daruma("resume", id)).stdout).toMatch(
      new RegExp(`^the pause of run ${id} is lifted\nprocess \\d+ continues it\n$`),
    );
    cli.write("lift-go", "");
    expect(await running.ended).toBe(0);
  });

  it("of a run that is over is refused", async () => {
    const { report } = await cli.runJson('steps: { a: { type: command, exec: "true" } }');
    const { exitCode, stderr } = await cli.daruma("pause", String(report.run_id));
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/^error RUN_OVER: run \d+ is completed\n/);
  });
});

/** `b` fails until the file `flag` is there. */
function failing(flag: string): string {
  return `
name: failing
steps:
  a: { type: command, exec: "echo a >> ${flag}-trace" }
  b: { type: command, exec: "echo b >> ${flag}-trace; test -f ${flag} || exit 3", depends_on: [a] }
  c: { type: command, exec: "echo c >> ${flag}-trace", depends_on: [b] }
  d: { type: command, exec: "echo d >> ${flag}-trace", depends_on: [a] }
`;
}

function trace(flag: string): string[] {
  return readFileSync(join(cli.path, `${flag}-trace`), "utf8")
    .trim()
    .split("\n")
    .sort();
}

describe("retry", () => {
  it("of a failed step of a finished run opens it again and runs only that step and what waits for it", async () => {
    const { exitCode, report } = await cli.runJson(failing("retry"));
    expect(exitCode).toBe(1);
    const id = String(report.run_id);
    cli.write("retry", "");
    const retried = await cli.daruma("retry", id, "b", "--reason", "mended");
    expect(retried.stdout).toMatch(
      /^b is retried with fresh budgets\n {2}b: failed -> ready\n {2}c: canceled -> blocked\n✓ run \d+ of failing completed /,
    );
    expect([retried.exitCode, await statusOf(id)]).toEqual([0, "completed"]);
    expect(trace("retry")).toEqual(["a", "b", "b", "c", "d"]);
    const story = (await cli.daruma("explain", id)).stdout;
    expect(story).toMatch(/Somebody reopened it after .* \("mended"\)\./);
    expect(story).toContain('Visit 2 began with fresh budgets: somebody asked for a retry ("mended").');
  });

  it("of a completed step needs --force, and then all that depends on it runs again", async () => {
    cli.write("force", "");
    const { report } = await cli.runJson(failing("force"));
    const id = String(report.run_id);
    const refused = await cli.daruma("retry", id, "b");
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toContain(
      `error STEP_COMPLETED: b is completed\nhint: \`daruma resume-from ${id} b\` `,
    );
    const { value } = await cli.json("retry", id, "b", "--force", "--no-resume");
    expect(value).toMatchObject({
      action: "resume_from_step",
      changed: [
        { step: "b", to: "ready" },
        { step: "c", to: "blocked" },
      ],
    });
    const { exitCode, report: after } = await cli.resume(report.run_id);
    expect(exitCode).toBe(0);
    expect(trace("force")).toEqual(["a", "b", "b", "c", "c", "d"]);
    expect(after.routes).toMatchObject([{ rung: "operator", step: "b" }]);
  });
});

describe("reset", () => {
  it("begins anew what failed and was canceled, and leaves handled failures alone", async () => {
    const flow = `${failing("reset")}
  tolerated: { type: command, exec: "echo t >> reset-trace; exit 1", continue_on_failure: true }
`;
    const { report } = await cli.runJson(flow);
    const id = String(report.run_id);
    cli.write("reset", "");
    const { value } = await cli.json("reset", id, "--no-resume");
    expect(value).toMatchObject({ status: "running", changed: [{ step: "b" }, { step: "c" }] });
    const { exitCode, report: after } = await cli.resume(report.run_id);
    expect(exitCode).toBe(0);
    expect(after.handled_failures).toMatchObject([{ step: "tolerated" }]);
    expect(trace("reset")).toEqual(["a", "b", "b", "c", "d", "t"]);
    expect((await cli.daruma("reset", id, "--failed-only")).stdout).toContain("nothing changed");
  });
});

describe("fork", () => {
  it("with a newer file reuses what came before the step, with new inputs over the old ones", async () => {
    const flow = (exec: string): string => `
name: forky
inputs: { who: { type: string, default: bob }, note: { type: string, required: false } }
steps:
  a: { type: command, exec: "echo a >> fork-trace; echo {{ inputs.who }}" }
  b: { type: command, exec: "echo b >> fork-trace; ${exec}", depends_on: [a] }
  c: { type: command, exec: "echo c >> fork-trace; echo {{ outputs.b }}", depends_on: [b] }
`;
    const { report } = await cli.runJson(flow("exit 3"));
    const id = String(report.run_id);
    const wrong = await cli.daruma("fork", id, "--from", "b", "--input", "whom=x");
    expect(wrong.stderr).toContain("hint: Inputs of the workflow: who, note.\n");
    const newer = cli.write("newer.yaml", flow("echo {{ outputs.a }} and {{ inputs.who }}"));
    const { exitCode, value } = await cli.json<Report>(
      "fork",
      id,
      "--from",
      "b",
      "--file",
      newer,
      "--input",
      "who=eve",
    );
    expect(exitCode).toBe(0);
    expect(value.run_id).not.toBe(report.run_id);
    expect(value.jobs.map(({ step, attempts, output }) => [step, attempts, output])).toEqual([
      ["a", 0, "bob"],
      ["b", 1, "bob and eve"],
      ["c", 1, "bob and eve"],
    ]);
    expect(trace("fork")).toEqual(["a", "b", "b", "c"]);
    expect(await statusOf(id)).toBe("failed");
    const fork = String(value.run_id);
    expect((await cli.daruma("explain", fork)).stdout).toContain(
      `It was forked from run ${id} at b ("by hand") and took over 1 job of it.`,
    );
    expect((await cli.daruma("explain", fork, "a")).stdout).toContain(
      `It was taken over from run ${id}, attempt 1, and did not run again.`,
    );
    const unknown = await cli.daruma("fork", id, "--from", "z");
    expect(unknown.exitCode).toBe(2);
    expect(unknown.stderr).toBe("error STEP_NOT_FOUND: forky has no step z\nhint: Its steps: a, b, c.\n");
  });
});
