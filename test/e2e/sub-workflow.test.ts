import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { CliFolder, type Report } from "../support/cli-folder.js";
import { sharedPostgresUrl } from "../support/embedded-postgres.js";
import { fileAppears } from "../support/file-appears.js";

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

const STARTED = /run (\d+) of parent started[\s\S]*run (\d+) of child started[\s\S]*work started/;

interface Listed {
  run_id: number;
  workflow: string;
  status: string;
}

async function childrenAfter(run: number, ...flags: string[]): Promise<Listed[]> {
  const { value } = await cli.json<Listed[]>("list", ...flags);
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

  const HELD = CHILD.replace("EXEC", "test -f sub-ok || exit 6; echo 8").replace(
    "name: child",
    "name: child\nunhandled: hold",
  );

  it("that is held ends the parent's process as a hold of its own would, and the decision goes on with both", async () => {
    const file = cli.write("parent.yaml", parent(HELD));
    const { exitCode, stdout } = await cli.daruma(
      "run",
      file,
      "--report",
      `junit=${join(cli.path, "j.xml")}`,
    );
    expect(exitCode).toBe(3);
    const [, id = "", childId = ""] =
      /^‖ run (\d+) of parent held: run (\d+) of child is held: work$/m.exec(stdout) ?? [];
    expect(stdout).toContain(
      `work (run ${childId}, job ${childId}0000001) is held after 1 attempt: exit code 6`,
    );
    expect(stdout).toMatch(new RegExp(`^to run it again: +daruma resolve ${childId} work --retry`, "m"));
    expect(readFileSync(join(cli.path, "j.xml"), "utf8")).toContain(
      `<failure message="held for a decision: run ${childId} of child is held: work" type="CHILD_RUN">`,
    );
    expect((await cli.daruma("list")).stdout).toMatch(
      new RegExp(`^${id} +held +parent .*waits for run ${childId}`, "m"),
    );
    const shown = await cli.json<Report>("show", id);
    expect(shown.value).toMatchObject({
      status: "running",
      interrupted: false,
      held_below: [{ run_id: Number(childId), status: "held", steps: "work" }],
    });
    expect((await cli.daruma("explain", id)).stdout).toContain(`daruma explain ${childId}`);
    expect((await cli.daruma("watch", id)).exitCode).toBe(3);
    expect((await cli.resume(Number(id))).exitCode).toBe(3);
    cli.write("sub-ok", "");
    const resolved = await cli.daruma("resolve", childId, "work", "--retry", "--reason", "ok now");
    expect(resolved.exitCode).toBe(0);
    expect(resolved.stdout).toContain(`run ${id} of parent completed`);
    expect(await childrenAfter(Number(id))).toMatchObject([{ status: "completed" }]);
    rmSync(join(cli.path, "sub-ok"));
  });

  it("that is held while its parent has other work goes on in the parent's process", async () => {
    const busy = `${parent(HELD)}  other: { type: command, exec: "until test -f other-ok; do sleep 0.05; done" }\n`;
    const running = cli.start("run", cli.write("parent.yaml", busy));
    const [, id = ""] = await running.until(/run (\d+) is held: work/);
    cli.write("sub-ok", "");
    const resolved = await cli.daruma("resolve", id, "work", "--retry", "--reason", "ok now");
    expect(resolved.stdout).toMatch(/process \d+ continues it\n$/);
    cli.write("other-ok", "");
    expect(await running.ended).toBe(0);
    rmSync(join(cli.path, "sub-ok"));
  });

  it("that is held on a server ends what watches the parent, and the server goes on waiting", async () => {
    const file = cli.write("parent.yaml", parent(HELD));
    const server = cli.start("serve", "--port", "0");
    const [, url = ""] = await server.until(/listening at (http:\S+)/);
    const followed = await cli.daruma("run", file, "--server", url, "--folder", cli.path);
    expect(followed.exitCode).toBe(3);
    const [, id = "", childId = ""] =
      /run (\d+) of parent held: run (\d+) of child/.exec(followed.stdout) ?? [];
    cli.write("sub-ok", "");
    await cli.daruma("resolve", childId, "work", "--retry", "--reason", "ok now", "--server", url);
    expect((await cli.daruma("watch", id, "--server", url)).exitCode).toBe(0);
    server.kill("SIGTERM");
    await server.ended;
    rmSync(join(cli.path, "sub-ok"));
  });

  it("survives Ctrl-C: the resumed parent goes on with the same child run", async () => {
    const child = CHILD.replace("EXEC", "echo begun >&2; test -f int-ok || sleep 600; echo 9");
    const running = cli.start("run", cli.write("parent.yaml", parent(child)));
    const [, id = "", childId = ""] = await running.until(STARTED);
    running.kill("SIGINT");
    expect(await running.ended).toBe(130);
    cli.write("int-ok", "");
    const { exitCode, report } = await cli.resume(Number(id));
    expect(exitCode).toBe(0);
    expect(report.jobs[0]?.output).toMatchObject({ run_id: Number(childId) });
    expect((await cli.json<Report>("show", childId)).value.status).toBe("completed");
  });

  it.each([
    ["SQLite", async () => []],
    ["PostgreSQL", async () => ["--store", `${await sharedPostgresUrl()}?schema=lost_child_e2e`]],
  ] as const)(
    "that ends while its killed parent is away is not run again (%s): the parent takes its outcome",
    async (name, storeFlags) => {
      const [paid, ok] = [`${name}-paid`, `${name}-ok`];
      const flags = await storeFlags();
      const child = CHILD.replace("EXEC", `echo paid >> ${paid}; test -f ${ok} || sleep 600; echo 9`);
      const running = cli.start("run", cli.write("parent.yaml", parent(child)), ...flags);
      const [, id = "", childId = ""] = await running.until(STARTED);
      await fileAppears(join(cli.path, paid));
      running.kill("SIGKILL");
      await running.ended;
      cli.write(ok, "");
      expect((await cli.json<Report>("resume", childId, ...flags)).value.status).toBe("completed");
      const { exitCode, value: report } = await cli.json<Report>("resume", id, ...flags);
      expect(exitCode).toBe(0);
      expect(report.jobs[0]).toMatchObject({ attempts: 2, output: { run_id: Number(childId) } });
      expect(await childrenAfter(report.run_id, ...flags)).toHaveLength(1);
      // Once by the attempt that was killed, once by the child's own next attempt.
      expect(readFileSync(join(cli.path, paid), "utf8")).toBe("paid\npaid\n");
    },
  );

  it("that ends while the server is away is not run again by the next one", async () => {
    const child = CHILD.replace("EXEC", "echo paid >> served-paid; test -f served-ok || sleep 600; echo 9");
    const file = cli.write("parent.yaml", parent(child));
    const server = cli.start("serve", "--port", "0");
    const [, url = ""] = await server.until(/listening at (http:\S+)/);
    const begun = await fetch(`${url}/api/v1/runs`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ source: readFileSync(file, "utf8"), folder: cli.path }),
    });
    const { run_id } = (await begun.json()) as { run_id: number };
    await fileAppears(join(cli.path, "served-paid"));
    server.kill("SIGKILL");
    await server.ended;
    cli.write("served-ok", "");
    const [made] = await childrenAfter(run_id);
    expect((await cli.resume(made!.run_id)).report.status).toBe("completed");
    const next = cli.start("serve", "--port", "0");
    await next.until(/listening at/);
    let report: Report;
    do report = (await cli.json<Report>("show", String(run_id))).value;
    while (report.status === "running");
    next.kill("SIGTERM");
    await next.ended;
    expect(report).toMatchObject({ status: "completed", jobs: [{ output: { run_id: made!.run_id } }, {}] });
    expect(await childrenAfter(run_id)).toHaveLength(1);
  });

  it("whose hold was decided while its killed parent was away is not run again", async () => {
    const child = CHILD.replace("EXEC", "echo paid >> held-paid; test -f held-ok || exit 6; echo 8").replace(
      "name: child",
      "name: child\nunhandled: hold",
    );
    const running = cli.start("run", cli.write("parent.yaml", parent(child)));
    const [, id = ""] = await running.until(/run (\d+) of parent started/);
    const [, childId = ""] = await running.until(/run (\d+) is held: work/);
    running.kill("SIGKILL");
    await running.ended;
    cli.write("held-ok", "");
    await cli.daruma("resolve", childId, "work", "--retry", "--reason", "ok now");
    expect((await cli.resume(Number(childId))).exitCode).toBe(0);
    expect((await cli.resume(Number(id))).exitCode).toBe(0);
    expect(await childrenAfter(Number(id))).toHaveLength(1);
    expect(readFileSync(join(cli.path, "held-paid"), "utf8")).toBe("paid\npaid\n");
  });
});
