import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { activePath, counting, HealingRuns, healingFile } from "../support/healing-runs.js";
import { isAlive } from "../support/process-trial.js";

const runs = new HealingRuns();

describe("with real processes: signs of life", () => {
  it("an idle agent is ended with its grandchild, however much that writes elsewhere", {
    tags: ["M6", "M13"],
  }, async () => {
    const from = runs.source();
    const chatty = `sh -c 'while :; do echo still here >> ${from.marks}/chat; sleep 0.05; done' & echo $! > ${from.marks}/pid; sleep 60`;
    const agent = counting(from, `[ "$n" -gt 1 ] && exit 0; ${chatty}`);
    const run = await runs.run(
      healingFile(
        from,
        "self_heal: true",
        `  edit: { type: agent, exec: ${agent}, prompt: mend, idle_timeout_ms: 600, kill_grace_ms: 100 }`,
      ),
    );
    expect((await run.events("attempt.failed")).map(({ error }) => error.code)).toEqual(["IDLE_TIMEOUT"]);
    expect(run.report.status).toBe("completed");
    expect(isAlive(Number(readFileSync(join(from.marks, "pid"), "utf8")))).toBe(false);
  });

  it("a grandchild that talks on the agent's output keeps it from being idle, and goes with it at the timeout", {
    tags: ["M5", "M20"],
  }, async () => {
    const from = runs.source();
    const chatty = `sh -c 'while :; do echo still here; sleep 0.05; done' & echo $! > ${from.marks}/pid; sleep 60`;
    const agent = counting(from, `[ "$n" -gt 1 ] && exit 0; ${chatty}`);
    const times = "idle_timeout_ms: 1000, timeout_ms: 2500, kill_grace_ms: 100";
    const run = await runs.run(
      healingFile(from, "self_heal: true", `  edit: { type: agent, exec: ${agent}, prompt: mend, ${times} }`),
    );
    expect((await run.events("attempt.failed")).map(({ error }) => error.code)).toEqual(["TIMEOUT"]);
    expect(isAlive(Number(readFileSync(join(from.marks, "pid"), "utf8")))).toBe(false);
  });

  const WRITER =
    "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do mkdir -p out/$i; echo $i > out/$i/part.o; sleep 0.2; done";

  it("a quiet step that writes files, ignored ones too, is not ended when it is told to watch files", {
    tags: ["M6"],
  }, async () => {
    const from = runs.source();
    const run = await runs.run(
      healingFile(
        from,
        "self_heal: true",
        `  ignore: { exec: "echo out > .gitignore" }
  build: { exec: ${JSON.stringify(WRITER)}, progress: files, idle_timeout_ms: 1000, depends_on: [ignore] }`,
      ),
    );
    expect(run.report.status).toBe("completed");
    expect(await run.events("attempt.failed")).toEqual([]);
  });

  it("the same step is ended where only output counts, and one that writes nothing is ended anyhow", async () => {
    const from = runs.source();
    const once = "on_fail: { retry: { max: 0 } }, idle_timeout_ms: 1000, kill_grace_ms: 100";
    const run = await runs.run(
      healingFile(
        from,
        "self_heal: true",
        `  build: { exec: ${JSON.stringify(WRITER)}, ${once}, continue_on_failure: true }
  stare: { exec: sleep 60, progress: files, ${once}, depends_on: [build] }`,
      ),
    );
    const failures = (await run.events("attempt.failed")).map(
      ({ error }) => `${error.step_id} ${error.code}`,
    );
    expect(failures).toEqual(["build IDLE_TIMEOUT", "stare IDLE_TIMEOUT"]);
  });
});

describe("a workspace", () => {
  it("is where its steps work, with a git of their own, whatever a hook around Daruma has set", async () => {
    const from = runs.source();
    const env = {
      ...process.env,
      GIT_DIR: join(from.repo, ".git"),
      GIT_INDEX_FILE: join(from.repo, ".git", "index"),
    };
    const run = await runs.run(
      healingFile(
        from,
        "",
        `  top: { exec: "git add -A && git rev-parse --show-toplevel" }
  sub: { exec: "mkdir -p src/deep", depends_on: [top] }
  deep: { exec: pwd, cwd: src/deep, depends_on: [sub] }
  outside: { exec: pwd, workspace: false, depends_on: [deep] }`,
      ),
      { env },
    );
    const path = await activePath(run);
    expect(run.job("top").output).toBe(path);
    expect(run.job("deep").output).toBe(join(path, "src/deep"));
    expect(run.job("outside").output).toBe(runs.folder);
    expect(path).toBe((await run.events("workspace.opened"))[0]!.path);
    const log = await run.daruma.store.readEvents(run.report.run_id);
    const first = log.slice(0, 3).map(({ event }) => event.type);
    expect(first).toEqual(["run.created", "workspace.opened", "run.started"]);
    expect(readFileSync(join(path, "a.txt"), "utf8")).toBe("a\n");
  });

  it("that cannot be made refuses the run before it is on record", async () => {
    const from = runs.source();
    const daruma = await runs.start();
    const start = async (workspace: string) =>
      daruma.start(runs.write("refused.yaml", `workspace: ${workspace}\nsteps: { a: { exec: "true" } }`));
    await expect(start("{ repo: ./nowhere }")).rejects.toMatchObject({ code: "WORKSPACE_REPO_NOT_FOUND" });
    await expect(start(`{ repo: ${from.repo}, ref: nope }`)).rejects.toMatchObject({
      code: "WORKSPACE_REF_NOT_FOUND",
    });
    expect(await daruma.store.listRuns({})).toEqual([]);
    for (const id of [1, 2]) expect(await daruma.store.readLease(id)).toBeNull();
  });

  it("needs an absolute path where the run has no folder", async () => {
    const from = runs.source();
    const daruma = await runs.start();
    const workflow = (repo: string) => ({
      ...daruma.load(
        runs.write("absolute.yaml", `workspace: { repo: ${repo} }\nsteps: { a: { exec: pwd } }`),
      ),
      folder: "",
    });
    await expect(daruma.start(workflow("."))).rejects.toThrow(/no folder to resolve it against/);
    const report = await (await daruma.start(workflow(from.repo))).result;
    expect(report.status).toBe("completed");
  });

  it("fails the attempt with a code where what it did cannot be kept", async () => {
    const from = runs.source();
    const spoil =
      'rm -rf "$DARUMA_OUTPUT_DIR/run-$DARUMA_RUN_ID/patches"; : > "$DARUMA_OUTPUT_DIR/run-$DARUMA_RUN_ID/patches"';
    const run = await runs.run(
      healingFile(from, "max_recoveries: 0", `  a: { exec: ${JSON.stringify(spoil)} }`),
    );
    expect(run.report.status).toBe("failed");
    expect((await run.events("attempt.failed"))[0]!.error.code).toBe("WORKSPACE_GIT_FAILED");
    expect(await run.events("attempt.succeeded")).toEqual([]);
  });

  it("of a fork would lack the files of earlier steps, so it is refused", async () => {
    const from = runs.source();
    const run = await runs.run(
      healingFile(
        from,
        "",
        `  a: { exec: "echo a > made.txt" }\n  b: { exec: cat made.txt, depends_on: [a] }`,
      ),
    );
    const text = runs.write(
      "fork.yaml",
      healingFile(from, "", `  a: { exec: "true" }\n  b: { exec: "true", depends_on: [a] }`),
    );
    const fork = (step: string) => run.daruma.start(text, { fork: { run: run.report.run_id, step } });
    await expect(fork("b")).rejects.toMatchObject({ code: "WORKSPACE_FORK" });
    expect((await (await fork("a")).result).status).toBe("completed");
  });
});
