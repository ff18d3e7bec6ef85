import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runCli } from "../support/cli.js";
import type { Report } from "../support/cli-folder.js";

let root = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "daruma-batch-folder-"));
  for (const name of ["flows", "scripts", "elsewhere"]) mkdirSync(join(root, name));
  write("input.txt", "3\n");
  write(
    "scripts/recover.sh",
    'echo "$TORC_JOB_NAME $TORC_RETURN_CODE $TORC_ATTEMPT_ID" > recovered; echo "$TORC_OUTPUT_DIR" > output-dir\n',
  );
  write("scripts/job.sh", '[[ "$TORC_ATTEMPT_ID" -ge 2 ]] || exit 10; echo "$TORC_JOB_NAME" > made.txt\n');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const write = (name: string, text: string): void => writeFileSync(join(root, name), text);
const read = (name: string): string => readFileSync(join(root, name), "utf8");

/** Paths as a file has them that is run from the folder above its own. */
const FLOW = `files: [{ name: in, path: input.txt }, { name: out, path: made.txt }]
failure_handlers:
  - { name: h, rules: [{ exit_codes: [10], recovery_script: bash scripts/recover.sh, max_retries: 2 }] }
jobs:
  - { name: job, command: bash scripts/job.sh, failure_handler: h, input_files: [in], output_files: [out] }
  - { name: wait, command: "test -e open && pwd", depends_on: [job] }
actions: [{ trigger_type: on_workflow_start, action_type: run_commands, commands: [pwd > started] }]
`;

async function run(cwd: string, ...args: string[]): Promise<{ exitCode: number | null; report: Report }> {
  const all = [...args, "--json", "--quiet", "--output-dir", join(root, "runs")];
  const { exitCode, stdout } = await runCli(all, {}, join(root, cwd));
  return { exitCode, report: JSON.parse(stdout) as Report };
}

const attempts = ({ jobs }: Report): unknown[] =>
  jobs.map(({ step, status, attempts: count }) => [step, status, count]);

describe("commands of the batch form", () => {
  it("start where the run was started, with Torc's names; a resume elsewhere goes on there", async () => {
    write("flows/flow.yaml", FLOW);
    const first = await run(".", "run", "flows/flow.yaml");
    expect(first.exitCode).toBe(3);
    expect(attempts(first.report)).toEqual([
      ["job", "completed", 2],
      ["wait", "held", 1],
      ["action_1_on_workflow_start", "completed", 1],
    ]);
    expect(read("made.txt")).toBe("job\n");
    expect(read("recovered")).toBe("job 10 1\n");
    expect(read("output-dir")).toBe(`${join(root, "runs/output")}\n`);
    expect(read("started")).toBe(`${root}\n`);
    write("open", "");
    const id = String(first.report.run_id);
    await runCli(["resolve", id, "wait", "--retry", "--output-dir", join(root, "runs")]);
    const second = await run("elsewhere", "resume", id);
    expect(second.exitCode).toBe(0);
    expect(second.report.jobs.find(({ step }) => step === "wait")?.output).toBe(root);
  });

  it("start at the file's folder where the file says so", async () => {
    write("flows/flow.yaml", "cwd: workflow_file\njobs: [{ name: job, command: pwd > here }]\n");
    expect((await run(".", "run", "flows/flow.yaml")).exitCode).toBe(0);
    expect(read("flows/here")).toBe(`${join(root, "flows")}\n`);
    expect(existsSync(join(root, "here"))).toBe(false);
  });

  it("start in another folder only at a server, and the refusal says where else they start", async () => {
    write("flows/flow.yaml", "jobs: [{ name: job, command: pwd > here }]\n");
    const { exitCode, stderr } = await runCli(["run", "flows/flow.yaml", "--folder", "elsewhere"], {}, root);
    expect([exitCode, stderr]).toEqual([
      2,
      "error USAGE: --folder needs --server\nhint: Without a server steps start in the folder of the file, and jobs of the batch form where you are.\n",
    ]);
    expect(existsSync(join(root, "here"))).toBe(false);
  });

  it("steps start at the file's folder, without Torc's names", async () => {
    write("flows/flow.yaml", 'steps: { a: { exec: "pwd; echo x$TORC_JOB_NAME" } }\n');
    const { report } = await run(".", "run", "flows/flow.yaml");
    expect(report.jobs[0]?.output).toBe(`${join(root, "flows")}\nx`);
  });
});
