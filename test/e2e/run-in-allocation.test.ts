import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { CliFolder, RunningCli } from "../support/cli-folder.js";
import { eventually } from "../support/daruma-process.js";
import { childrenOf } from "../support/process-trial.js";
import { processesWith } from "../support/processes-with.js";

const cli = new CliFolder();

/** As `sbatch --wrap "daruma run FILE"` starts it. */
const SLURM = { SLURM_JOB_ID: "77", SLURM_CPUS_ON_NODE: "4" };

interface Shown {
  readonly type: string;
  readonly because?: string;
}

describe("daruma run in an allocation of its own", () => {
  it("records nothing as completed or failed that is ended with it, and resume runs it again", async () => {
    const mark = join(cli.path, "begun");
    const step = (name: string, exec: string): string =>
      `  ${name}: { shell: [sh, -c], exec: "test $DARUMA_ATTEMPT_ID -gt 1 && exit 0; ${exec}", env: { MARK: "${mark}" } }\n`;
    const file = cli.write(
      "all.yaml",
      `steps:
${step("plain", `touch ${mark}1; exec sleep 600`)}${step("saves", `trap 'exit 0' TERM; touch ${mark}2; sleep 600 & wait`)}${step("goes_on", `trap : TERM; touch ${mark}3; sleep 600; echo done`)}`,
    );
    const args = ["run", file, "--max-parallel", "3", "--output-dir", cli.outputDir];
    const run = new RunningCli(args, SLURM);
    await eventually("all steps", () =>
      ["1", "2", "3"].every((name) => existsSync(mark + name) && processesWith(`MARK=${mark}`).length >= 5),
    );
    const [engine, launchers] = [run.pid, childrenOf(run.pid)];
    // A scheduler signals the youngest process first.
    for (const pid of [...processesWith(`MARK=${mark}`), ...launchers, engine]) process.kill(pid, "SIGTERM");
    expect(await run.ended).toBe(130);
    const { stdout } = await cli.daruma("events", "last", "--json");
    const events = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Shown);
    const ends = events.filter(({ type }) => /^attempt\.(succeeded|failed|stopped)$/.test(type));
    expect(ends.map(({ type, because }) => [type, because])).toEqual(
      Array(3).fill(["attempt.stopped", "interrupted"]),
    );
    expect((await cli.daruma("resume", "last")).exitCode).toBe(0);
  });
});
