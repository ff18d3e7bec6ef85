import { describe, expect, it } from "vitest";
import { CliFolder, type Report } from "../support/cli-folder.js";

const cli = new CliFolder();

function parent(child: string, onFail = ""): string {
  cli.write("child.yaml", child);
  return `
name: parent
steps:
  sub: { type: workflow, file: child.yaml, inputs: { n: 2 }${onFail} }
  after: { type: command, exec: "echo {{ outputs.sub.outputs.work }}", depends_on: [sub] }
`;
}

const CHILD = `
name: child
inputs: { n: { type: number } }
steps: { work: { type: command, exec: "EXEC" } }
`;

interface Listed {
  run_id: number;
  workflow: string;
  status: string;
}

async function childrenAfter(run: number): Promise<Listed[]> {
  const { value } = await cli.json<Listed[]>("list");
  return value.filter(({ run_id, workflow }) => run_id > run && workflow === "child");
}

describe("a sub-workflow", () => {
  it("runs as a child run and gives its outputs to the parent", async () => {
    const { exitCode, report } = await cli.runJson(parent(CHILD.replace("EXEC", "echo {{ inputs.n }}")));
    expect(exitCode).toBe(0);
    const [child] = await childrenAfter(report.run_id);
    expect(child).toMatchObject({ status: "completed" });
    expect(report.jobs.map(({ output }) => output)).toEqual([
      { run_id: child?.run_id, outputs: { work: 2 } },
      2,
    ]);
    const explained = await cli.daruma("explain", String(report.run_id), "sub");
    expect(explained.stdout).toContain(`Its child run ${child?.run_id} completed.`);
    expect((await cli.daruma("explain", String(child?.run_id))).stdout).toContain(
      `It is a child run of job ${report.jobs[0]?.id} of run ${report.run_id}.`,
    );
  });

  it("that fails climbs the parent's ladder, each attempt with a child run of its own", async () => {
    const child = CHILD.replace(
      "EXEC",
      "echo x >> sub-trace; test $(wc -l < sub-trace) -ge 2 || exit 6; echo 7",
    );
    const { exitCode, report } = await cli.runJson(parent(child, ", on_fail: { retry: { max: 1 } }"));
    expect(exitCode).toBe(0);
    expect(report.jobs).toMatchObject([{ attempts: 2, status: "completed" }, { output: 7 }]);
    expect((await childrenAfter(report.run_id)).map(({ status }) => status)).toEqual(["completed", "failed"]);
  });

  it("that fails for good fails the step, and explain points at the child run", async () => {
    const { exitCode, report } = await cli.runJson(parent(CHILD.replace("EXEC", "exit 6")));
    expect(exitCode).toBe(1);
    const [child] = await childrenAfter(report.run_id);
    expect(report.jobs[0]?.error).toMatchObject({ code: "CHILD_FAILED" });
    const { stdout } = await cli.daruma("explain", String(report.run_id));
    expect(stdout).toContain(
      `- See what went wrong in its child run:\n    daruma explain ${child?.run_id} --output-dir ${cli.outputDir}\n`,
    );
  });

  it("that is held waits for a decision and then goes on in the parent's process", async () => {
    const child = CHILD.replace("EXEC", "test -f sub-ok || exit 6; echo 8").replace(
      "name: child",
      "name: child\nunhandled: hold",
    );
    const running = cli.start("run", cli.write("parent.yaml", parent(child)));
    const [, id = ""] = await running.until(/run (\d+) is held: work/);
    cli.write("sub-ok", "");
    const resolved = await cli.daruma("resolve", id, "work", "--retry", "--reason", "ok now");
    expect(resolved.stdout).toMatch(/process \d+ continues it\n$/);
    expect(await running.ended).toBe(0);
  });

  it("survives Ctrl-C: the resumed parent goes on with the same child run", async () => {
    const child = CHILD.replace("EXEC", "echo begun >&2; test -f int-ok || sleep 600; echo 9");
    const running = cli.start("run", cli.write("parent.yaml", parent(child)));
    const [, id = "", childId = ""] = await running.until(
      /run (\d+) of parent started[\s\S]*run (\d+) of child started[\s\S]*work started/,
    );
    running.kill("SIGINT");
    expect(await running.ended).toBe(130);
    cli.write("int-ok", "");
    const { exitCode, report } = await cli.resume(Number(id));
    expect(exitCode).toBe(0);
    expect(report.jobs[0]?.output).toMatchObject({ run_id: Number(childId) });
    expect((await cli.json<Report>("show", childId)).value.status).toBe("completed");
  });
});
