import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { git, makeRepository, photograph } from "../support/git-repository.js";
import { ModelServers, say } from "../support/model-server.js";
import { callIn, OperationBench, refusalOf } from "../support/operation-bench.js";

const bench = new OperationBench();
const models = new ModelServers();
let count = 0;

/** A repository of its own, and a file whose steps work on it. */
function repository(): { repo: string; flag: string } {
  count += 1;
  const repo = makeRepository(join(bench.folder, `repo-${count}`), { "a.txt": "one\n" });
  return { repo, flag: join(bench.folder, `flag-${count}`) };
}

const QUEUED = (flag: string, more = "") => `name: queued
${more}queue: { max_attempts: 2, classes: [application], backoff: { mode: none } }
steps:
  call: { type: command, exec: "test -f ${flag} || { echo no answer >&2; exit 7; }" }
  after: { type: noop, depends_on: [call] }
`;

/** `edit` fails until the flag is there. */
const EDITED = ({ repo, flag }: { repo: string; flag: string }) => `name: edited
workspace: { repo: ${repo}, ref: HEAD }
steps:
  plan: { type: command, exec: "echo two > b.txt" }
  edit: { type: command, exec: "echo $(cat b.txt) three > c.txt; test -f ${flag}", depends_on: [plan] }
`;

describe("dead letters", () => {
  const newFlag = (): string => repository().flag;

  it("are listed with what happened to them, of one run or of all, page by page", async () => {
    const first = await bench.run(QUEUED(newFlag()));
    const second = await bench.run(QUEUED(newFlag(), "unhandled: hold\n"));
    expect([first.status, second.status]).toEqual(["failed", "held"]);
    const { items, next } = await bench.call("list_dead_letters", { run_id: first.run_id });
    const [dead] = items;
    // What is given up waits for nothing.
    const { output: _, waits_for: __, ...job } = first.jobs[0]!;
    expect({ ...dead, since: 0 }).toEqual({ ...job, queue_attempts: 2, since: 0 });
    expect(job).toMatchObject({
      workflow: "queued",
      step: "call",
      status: "failed",
      error: { code: "EXIT_7", message: "exit code 7: no answer", exit_code: 7, class: "application" },
      attempts: 2,
    });
    expect(Date.parse(dead!.since)).toBeGreaterThanOrEqual(Date.parse(first.created_at));
    expect(next).toBeNull();
    const all = await bench.call("list_dead_letters", {});
    expect(all.items.map(({ run_id, status }) => [run_id, status])).toEqual([
      [first.run_id, "failed"],
      [second.run_id, "held"],
    ]);
    const page = await bench.call("list_dead_letters", { limit: 1 });
    expect(page).toMatchObject({ items: [{ id: dead!.id }], next: dead!.id });
    const rest = await bench.call("list_dead_letters", { limit: 1, after: page.next! });
    expect(rest.items.map(({ run_id }) => run_id)).toEqual([second.run_id]);
    expect(second.summary.holds).toMatchObject([{ step: "call", dead_letter: true }]);
    expect((await bench.call("get_job", { job_id: dead!.id })).dead_letter).toBe(true);
  });

  it("are redriven with the queue's rounds anew, by one key once", async () => {
    const flag = newFlag();
    const { run_id, jobs } = await bench.run(QUEUED(flag));
    const job_id = jobs[0]!.id;
    const redrive = () => bench.call("redrive_job", { job_id, reason: "try", key: "once" });
    const first = await redrive();
    expect(first).toMatchObject({ run_id, job_id, step: "call", before: "failed", key: "once" });
    const again = await bench.settled(run_id);
    expect(again).toMatchObject({ status: "failed", live_control: { recovery: { action: "redrive" } } });
    // Two rounds more: then it is a dead letter once more, and the same key changes nothing.
    expect(again.jobs[0]).toMatchObject({ attempts: 4, visits: 2, dead_letter: true });
    expect(await redrive()).toEqual({ ...first, owner: null });
    expect((await bench.call("get_run", { run_id })).jobs[0]!.attempts).toBe(4);
    writeFileSync(flag, "");
    await bench.call("redrive_job", { job_id, reason: "the network is back" });
    expect((await bench.settled(run_id)).status).toBe("completed");
    expect((await bench.call("list_dead_letters", { run_id })).items).toEqual([]);
    expect(await refusalOf(bench.call("redrive_job", { job_id }))).toBe("NOT_DEAD_LETTER");
    expect(await refusalOf(bench.call("redrive_job", { job_id: 7 }))).toBe("JOB_NOT_FOUND");
  });

  it("are none any more once somebody has decided the hold otherwise", async () => {
    const { run_id, jobs } = await bench.run(QUEUED(newFlag(), "unhandled: hold\n"));
    await bench.call("resolve_holds", {
      classifications: [{ job_id: jobs[0]!.id, action: "skip" }],
    });
    expect((await bench.settled(run_id)).status).toBe("completed");
    expect((await bench.call("list_dead_letters", { run_id })).items).toEqual([]);
  });
});

describe("the workspace of a run", () => {
  it("is told with its commit and its checkpoints, and is no artifact", async () => {
    const place = repository();
    const { run_id, jobs } = await bench.run(EDITED(place));
    const found = await bench.call("get_workspace", { run_id });
    expect(found).toMatchObject({
      repo: place.repo,
      commit: git(place.repo, "rev-parse", "HEAD"),
      at_work: null,
      resets: 0,
      checkpoints: [
        {
          ordinal: 1,
          job_id: jobs[0]!.id,
          step: "plan",
          attempt: 1,
          changed_files: ["b.txt"],
          patch: "patches/steps/step-0001.patch",
          superseded: false,
        },
      ],
    });
    expect(readFileSync(join(found.path!, "b.txt"), "utf8")).toBe("two\n");
    const { items } = await bench.call("list_artifacts", { run_id });
    const names = items.map(({ name }) => name);
    expect(names).toContain("patches/steps/step-0001.patch");
    expect(names.filter((name) => name.startsWith("workspace/"))).toEqual([]);
  });

  it("is not there where the file has none", async () => {
    const { run_id } = await bench.run("name: bare\nsteps: { a: { type: noop } }");
    expect(await refusalOf(bench.call("get_workspace", { run_id }))).toBe("WORKSPACE_NOT_FOUND");
    expect(await refusalOf(bench.call("apply_run", { run_id }))).toBe("WORKSPACE_NOT_FOUND");
  });

  it("is reset hard by hand: the step runs again on the checkpoints before it", async () => {
    const place = repository();
    const { run_id } = await bench.run(EDITED(place));
    const before = (await bench.call("get_workspace", { run_id })).path!;
    writeFileSync(join(before, "b.txt"), "spoilt\n");
    writeFileSync(place.flag, "");
    const answered = await bench.call("control_run", {
      run_id,
      action: "hard_reset_step",
      step_id: "edit",
      reason: "it went in circles",
    });
    expect(answered).toMatchObject({ action: "hard_reset_step", target: { step: "edit" }, before: "failed" });
    const run = await bench.settled(run_id);
    expect(run).toMatchObject({
      status: "completed",
      live_control: { paused: false, recovery: { action: "hard_reset_step", step_id: "edit" } },
    });
    const { path, checkpoints, resets } = await bench.call("get_workspace", { run_id });
    expect(path).not.toBe(before);
    expect(readFileSync(join(path!, "c.txt"), "utf8")).toBe("two three\n");
    expect(checkpoints.map(({ step }) => step)).toEqual(["plan", "edit"]);
    expect(resets).toBe(0);
  });

  it("goes back with the run to a step: what came after is superseded", async () => {
    const place = repository();
    writeFileSync(place.flag, "");
    const { run_id } = await bench.run(EDITED(place));
    const back = { run_id, action: "resume_from_step", step_id: "plan" } as const;
    expect((await bench.call("control_run", back)).action).toBe("resume_from_step");
    expect((await bench.until(run_id, ({ jobs }) => jobs[1]!.attempts === 2)).status).not.toBe("failed");
    await bench.settled(run_id);
    const { checkpoints } = await bench.call("get_workspace", { run_id });
    expect(checkpoints.map(({ step, superseded }) => [step, superseded])).toEqual([
      ["plan", true],
      ["edit", true],
      ["plan", false],
      ["edit", false],
    ]);
  });

  it("is not swapped or taken under the feet of a step, unless it is told to", async () => {
    const { repo, flag } = repository();
    const slow = `name: slow
workspace: { repo: ${repo}, ref: HEAD }
steps:
  plan: { type: command, exec: "echo two > b.txt" }
  edit: { type: command, exec: "while [ ! -f ${flag} ]; do sleep 0.02; done", depends_on: [plan] }
`;
    const { run_id } = await bench.call("start_run", { source: slow });
    await bench.until(run_id, ({ jobs }) => jobs[1]?.status === "running");
    expect((await bench.call("get_workspace", { run_id })).at_work).toBe("edit");
    const ask = (action: "hard_reset_step" | "resume_from_step", step_id: string, force: boolean) =>
      bench.call("control_run", { run_id, action, step_id, force });
    expect(await refusalOf(ask("hard_reset_step", "edit", false))).toBe("WORKSPACE_BUSY");
    expect(await refusalOf(ask("resume_from_step", "plan", false))).toBe("WORKSPACE_BUSY");
    expect(await refusalOf(bench.call("apply_run", { run_id }))).toBe("WORKSPACE_BUSY");
    expect((await ask("hard_reset_step", "edit", true)).target).toMatchObject({ step: "edit" });
    await bench.until(run_id, ({ jobs }) => jobs[1]!.attempts === 2 && jobs[1]!.status === "running");
    writeFileSync(flag, "");
    expect((await bench.settled(run_id)).status).toBe("completed");
  });
});

describe("the result of a run", () => {
  async function finished() {
    const place = repository();
    writeFileSync(place.flag, "");
    const { run_id } = await bench.run(EDITED(place));
    return { run_id, ...place };
  }

  it("is a patch that the repository takes, and an artifact; nothing of the repository is touched", async () => {
    const { run_id, repo } = await finished();
    const before = photograph(repo);
    const { patch, ...more } = await bench.call("apply_run", { run_id });
    expect(photograph(repo)).toEqual(before);
    expect(more).toMatchObject({ status: "completed", unfinished_files: 0, branch: null, commit: null });
    expect(patch).toMatchObject({ artifact: "result.patch", files: 2 });
    const artifact = await bench.call("get_artifact", { run_id, name: patch!.artifact });
    expect(artifact.text).toBe(patch!.text);
    execFileSync("git", ["apply"], { cwd: repo, input: patch!.text! });
    expect(readFileSync(join(repo, "c.txt"), "utf8")).toBe("two three\n");
  });

  it("is a commit on a new branch, which leaves all else alone; a branch that exists is refused", async () => {
    const { run_id, repo } = await finished();
    const head = git(repo, "rev-parse", "HEAD");
    const made = await bench.call("apply_run", { run_id, branch: "result", message: "Repair it" });
    expect(made).toMatchObject({ branch: "result", base: head, patch: null });
    expect(git(repo, "log", "--format=%H %P %s", "-1", "result")).toBe(`${made.commit} ${head} Repair it`);
    expect(git(repo, "show", "result:c.txt")).toBe("two three");
    expect(git(repo, "status", "--porcelain")).toBe("");
    expect(git(repo, "branch", "--show-current")).toBe("main");
    const again = (branch: string) => refusalOf(bench.call("apply_run", { run_id, branch }));
    expect(await again("result")).toBe("WORKSPACE_BRANCH_EXISTS");
    expect(await again("--force")).toBe("WORKSPACE_BRANCH_INVALID");
    expect(git(repo, "rev-parse", "result")).toBe(made.commit);
  });

  it("of a run that failed says how much is of the step that did not complete", async () => {
    const { run_id } = await bench.run(EDITED(repository()));
    const { status, unfinished_files, patch } = await bench.call("apply_run", { run_id });
    expect({ status, unfinished_files, files: patch!.files }).toEqual({
      status: "failed",
      unfinished_files: 1,
      files: 2,
    });
  });

  it("goes with the run when it is pruned, read-only folders and all", async () => {
    const { repo } = repository();
    const { run_id } = await bench.run(`name: cached
workspace: { repo: ${repo}, ref: HEAD }
steps:
  cache: { type: command, exec: "mkdir cache; touch cache/f; chmod 500 cache" }
`);
    const { path } = await bench.call("get_workspace", { run_id });
    await callIn({ ...bench.context, now: () => Date.now() + 60_000 }, "prune_runs", { older_than: "1s" });
    expect(existsSync(path!)).toBe(false);
  });
});

describe("what agents and models were told", () => {
  it("is read as a stream of its own, with what of it was kept", async () => {
    const source = `name: told
steps:
  ask: { type: agent, exec: "cat", prompt: "Mend the page." }
  plain: { type: noop }
`;
    const { jobs } = await bench.run(source);
    const prompt = await bench.call("get_job_logs", { job_id: jobs[0]!.id, stream: "prompt" });
    expect(prompt).toMatchObject({
      stream: "prompt",
      attempt: 1,
      text: expect.stringContaining("Mend the page."),
    });
    expect(prompt.manifest).not.toBeNull();
    expect(await refusalOf(bench.call("get_job_logs", { job_id: jobs[1]!.id, stream: "prompt" }))).toBe(
      "ATTEMPT_NOT_FOUND",
    );
  });

  it("costs tokens, which the job and the run tell", async () => {
    const { url } = await models.serve(say(["forty-two"]));
    const { run_id, jobs, usage } = await bench.run(`name: asked
steps:
  ask: { type: llm_call, provider: openai-compatible, base_url: "${url}", model: m, prompt: "What is it?" }
`);
    const tokens = { model: "m", input_tokens: 11, output_tokens: 7, total_tokens: 18 };
    expect(usage).toMatchObject([{ job_id: jobs[0]!.id, attempt: 1, ...tokens }]);
    const job = await bench.call("get_job", { job_id: jobs[0]!.id });
    expect(job.attempt_history).toMatchObject([{ attempt: 1, usage: tokens }]);
    expect(run_id).toBeGreaterThan(0);
  });
});
