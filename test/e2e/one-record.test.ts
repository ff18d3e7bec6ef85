import { describe, expect, it } from "vitest";
import type { JobRecord } from "../../src/tell/job-record.js";
import type { RunReport } from "../../src/tell/run-report.js";
import { CliFolder } from "../support/cli-folder.js";

const cli = new CliFolder();

const FLOW = `
name: release
unhandled: hold
steps:
  build: { type: command, exec: "echo made; echo no disk >&2; exit 4" }
  pack: { type: command, exec: "exit 7", on_fail: { run: [fix] } }
  fix: { type: command, exec: "exit 8" }
  ship: { type: command, exec: "true", depends_on: [pack] }
  notes: { type: script, content: "return null.there" }
  told:
    type: script
    content: "return [failure.exit_code, failure.exitCode, failure.step_id, failure.stderr_tail]"
  odd: { type: command, exec: "echo odd >&2; exit 9" }
transitions:
  - { from: odd, to: told, on: failure, when: "error.exit_code == 9" }
`;

type Listed = JobRecord & { readonly waits_for: unknown };

/** What a job waits for is asked of whoever runs it, and is no part of what the log says; none of these waits. */
function settled({ waits_for, ...job }: Listed): JobRecord {
  expect(waits_for).toBeNull();
  return job;
}

describe("the record of a job", () => {
  it("is the same in run, show, jobs, job show, holds and list, and whole", async () => {
    const { value: told } = await cli.json<RunReport>("run", cli.write("release.yaml", FLOW));
    expect(told.status).toBe("held");
    const jobs = told.jobs.map(({ output: _, ...job }) => job);
    const id = String(told.run_id);
    const asked = async <T>(...words: string[]): Promise<T> => (await cli.json<T>(...words)).value;

    expect((await asked<{ jobs: Listed[] }>("show", id)).jobs.map(settled)).toEqual(told.jobs);
    expect((await asked<Listed[]>("jobs", id)).map(settled)).toEqual(jobs);
    const held = await asked<(JobRecord & { readonly kind: string })[]>("holds", id);
    expect(held).toMatchObject(jobs.filter(({ step }) => /build|notes/.test(step)));
    expect(held.map(({ kind }) => kind)).toEqual(["hold", "hold"]);
    for (const job of jobs) expect(await asked("job", "show", String(job.id))).toMatchObject(job);
    expect(await asked("list")).toMatchObject([{ run_id: told.run_id, workflow_id: told.workflow_id }]);

    const error = (step: string) => jobs.find((job) => job.step === step)!.error;
    expect(error("build")).toMatchObject({
      ...{ code: "EXIT_4", class: "application", exit_code: 4, attempt: 1, action: "command" },
      ...{ step_id: "build", stdout_tail: "made\n", stderr_tail: "no disk\n", cause: null },
    });
    expect(error("pack")).toMatchObject({
      code: "REMEDIATION_FAILED",
      cause: { code: "EXIT_7", exit_code: 7 },
    });
    expect(error("ship")).toMatchObject({ code: "DEPENDENCY_FAILED", exit_code: null, attempt: null });
    expect(error("notes")).toMatchObject({
      code: "SCRIPT_ERROR",
      stack_trace: expect.stringMatching(/script:1/),
    });
    expect(told.jobs.find(({ step }) => step === "told")!.output).toEqual([9, 9, "odd", "odd\n"]);
  });
});
