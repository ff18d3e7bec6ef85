import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Definition } from "../../src/core/model/definition.js";
import { RealRuns } from "../support/real-run.js";

const real = new RealRuns();
const left = (name: string): boolean => existsSync(join(real.folder, name));

describe("a block", () => {
  it("stops at its first failing line, in every attempt", async () => {
    const run = await real.run(`steps:
  copy:
    exec: |
      echo one
      cp /does/not/exist x
      echo two
    on_fail: { retry: { max: 1, backoff: { delay_ms: 0 } } }
  after: { depends_on: [copy], exec: "echo after" }`);
    expect(run.report.status).toBe("failed");
    expect(run.job("copy")).toMatchObject({ status: "failed", attempts: 2, error: { exit_code: 1 } });
    expect(run.job("after").attempts).toBe(0);
    expect(run.text("_a1.o")).toBe("one\n");
    expect(run.text("_a2.o")).toBe("one\n");
  });

  it("of built-ins alone stops too, and goes on where it says so", async () => {
    const run = await real.run(`unhandled: fail
steps:
  stops: { exec: "false; echo reached" }
  set: { exec: "set +e; false; echo reached" }
  either: { exec: "false || echo reached" }
  asked: { exec: "if false; then echo never; else echo reached; fi" }
  list: { exec: [sh, -c, "false; echo reached"] }`);
    expect(run.report.jobs.map(({ step, status, output }) => [step, status, output])).toEqual([
      ["stops", "failed", null],
      ...["set", "either", "asked", "list"].map((step) => [step, "completed", "reached"]),
    ]);
  });

  it("stops in repairs and finally", async () => {
    const run = await real.run(`steps:
  broken:
    exec: exit 3
    on_fail: { run: [mend] }
  mend: { exec: "false; touch mended" }
  last: { exec: "false; touch last" }
finally: [last]`);
    expect(run.report.status).toBe("failed");
    expect(run.report.jobs.map(({ step, status, attempts }) => [step, status, attempts])).toEqual([
      ["broken", "failed", 1],
      ["mend", "failed", 1],
      ["last", "failed", 1],
    ]);
    expect(["mended", "last"].filter(left)).toEqual([]);
  });

  it("stops in an undo, which then waits for somebody to decide", async () => {
    const run = await real.run(`steps:
  made: { exec: "true", undo: unmade }
  unmade: { exec: "false; touch unmade" }
  broken: { depends_on: [made], exec: exit 3 }`);
    expect(run.report.status).toBe("held");
    expect(run.job("unmade")).toMatchObject({ attempts: 1, error: { exit_code: 1 } });
    expect(left("unmade")).toBe(false);
  });

  it("of an agent stops, whether the prompt comes by stdin or as an argument", async () => {
    const run = await real.run(`steps:
  piped: { type: agent, prompt: Do it, exec: "false; cat > piped" }
  argued: { type: agent, prompt: Do it, prompt_via: argument, exec: "false; echo {prompt} > argued" }
  fine: { type: agent, prompt: Do it, prompt_via: argument, shell: bash, exec: "[[ {prompt} == *Do* ]] && echo yes" }`);
    expect(run.report.jobs.map(({ step, status, output }) => [step, status, output])).toEqual([
      ["piped", "failed", null],
      ["argued", "failed", null],
      ["fine", "completed", "yes"],
    ]);
    expect(["piped", "argued"].filter(left)).toEqual([]);
  });
});

describe("`shell`", () => {
  it("bash sees a failure within a pipe, which sh does not", async () => {
    const run = await real.run(`steps:
  hidden: { exec: "(exit 7) | cat; echo end" }
  seen: { shell: bash, exec: "(exit 7) | cat; echo end" }`);
    expect(run.job("hidden")).toMatchObject({ status: "completed", output: "end" });
    expect(run.job("seen")).toMatchObject({ status: "failed", error: { exit_code: 7 } });
  });

  it("at the top is that of every step that has none, and a list gets the text as its last argument", async () => {
    const run = await real.run(`shell: bash
steps:
  top: { exec: "[[ a == a ]]; echo \${BASH_VERSION:+bash}" }
  own: { shell: sh, exec: "(exit 7) | cat; echo sh" }
  node: { shell: [node, -e], exec: "console.log(1 + 1)" }
  login: { shell: [sh, -c, 'echo "asked to run $0"'], exec: echo }`);
    expect(run.report.status).toBe("completed");
    expect(run.report.jobs.map(({ output }) => output)).toEqual(["bash", "sh", 2, "asked to run echo"]);
  });

  it("is frozen with the definition", async () => {
    const run = await real.run(`steps:
  text: { exec: echo a }
  list: { exec: [echo, a] }
  own: { shell: [bash, -c], exec: echo a }
  agent: { type: agent, prompt: p, exec: cat }
  web: { type: noop }`);
    const { definition_hash: hash } = (await run.daruma.store.readRun(run.report.run_id))!;
    const definition = JSON.parse((await run.daruma.store.readDefinition(hash))!) as Definition;
    expect(definition.steps.map(({ id, action }) => [id, action.shell])).toEqual([
      ["text", "sh"],
      ["list", undefined],
      ["own", ["bash", "-c"]],
      ["agent", "sh"],
      ["web", undefined],
    ]);
  });
});

describe("what goes on after a failing line", () => {
  it("a recovery script", async () => {
    const run = await real.run(`failure_handlers:
  - { name: h, rules: [{ exit_codes: [3], recovery_script: "false; touch recovered", max_retries: 2 }] }
steps: { job: { exec: "test -e recovered || exit 3", failure_handler: h } }`);
    expect(run.report.status).toBe("completed");
    expect(run.job("job").attempts).toBe(2);
    expect(await run.events("recovery.finished")).toMatchObject([{ ok: true }]);
  });

  it("jobs of the batch form, under the bash of their worker, and `run_commands`", async () => {
    const run = await real.run(`cwd: workflow_file
jobs:
  - { name: job, command: "false; [[ a == a ]] && echo \${BASH_VERSION:+bash}" }
  - { name: strict, shell: sh, command: "false; touch strict" }
use_pending_failed: false
actions: [{ trigger_type: on_workflow_start, action_type: run_commands, commands: ["false; touch started"] }]`);
    expect(run.job("job")).toMatchObject({ status: "completed", output: "bash" });
    expect(run.job("strict")).toMatchObject({ status: "failed", attempts: 1 });
    expect(["started", "strict"].filter(left)).toEqual(["started"]);
    const began = await run.events("attempt.started");
    const shells = Object.fromEntries(
      began.map(({ job, shell }) => [run.report.jobs.find(({ id }) => id === job)!.step, shell]),
    );
    expect(shells).toEqual({ action_1_on_workflow_start: undefined, job: "bash", strict: undefined });
  });

  it("jobs of the batch form where there is no bash: sh, as the log says", async () => {
    const run = await real.run(
      `cwd: workflow_file
jobs: [{ name: job, command: "false; echo x\${BASH_VERSION} > no-bash" }]`,
      {
        env: { PATH: real.folder },
      },
    );
    expect(run.report.status).toBe("completed");
    expect(readFileSync(join(real.folder, "no-bash"), "utf8")).toBe("x\n");
    expect(await run.events("attempt.started")).toMatchObject([{ shell: "sh" }]);
  });
});
