import { describe, expect, it } from "vitest";
import { runCli } from "../support/cli.js";
import { CliFolder, type Report } from "../support/cli-folder.js";

const cli = new CliFolder();

/** `disk` fails until the file `flag` is there; `cpu` always fails. */
function held(flag: string): string {
  return `
name: batch
unhandled: hold
steps:
  disk: { type: command, exec: "echo no space >&2; test -f ${flag} || exit 4" }
  cpu: { type: command, exec: "exit 7", depends_on: [disk] }
  after: { type: command, exec: "echo got {{ outputs.cpu | sh }}", depends_on: [cpu] }
`;
}

interface Hold {
  run_id: number;
  id: number;
  step: string;
  scope: string;
  attempts: number;
  error: { code: string; class: string; stderr_tail: string };
}

describe("a hold", () => {
  it("ends the command with 3, is listed, is resolved by a retry, and goes on with the decision", async () => {
    const flow = cli.write("hold.yaml", held("disk-ok"));
    const first = await cli.daruma("run", flow);
    expect(first.exitCode).toBe(3);
    const id = Number(/^‖ run (\d+) of batch held: 1 held, 2 blocked$/m.exec(first.stdout)?.[1]);
    expect(first.stdout).toMatch(
      /^disk \(run \d+, job \d+\) is held after 1 attempt: exit code 4 \(EXIT_4, application\)\n {2}\| no space$/m,
    );
    expect(first.stdout).toContain(
      `daruma resolve ${id} disk --retry --reason "..." --output-dir ${cli.outputDir}`,
    );
    expect(first.stderr).toContain(
      `held until somebody decides: daruma holds ${id} --output-dir ${cli.outputDir}`,
    );

    expect((await cli.daruma("jobs", String(id), "--status", "failed")).stdout).toBe(
      "no jobs; those that wait for a decision about their failure are held: --status held\n",
    );
    expect((await cli.daruma("jobs", String(id), "--status", "failed,held")).stdout).toContain("disk");
    expect((await cli.daruma("jobs", String(id), "--status", "skipped")).stdout).toBe("no jobs\n");
    expect((await cli.daruma("retry", String(id), "--dry-run")).stdout).toContain("  disk: held -> ready\n");

    const { value: holds } = await cli.json<Hold[]>("holds");
    expect(holds).toMatchObject([
      {
        run_id: id,
        step: "disk",
        scope: "root",
        attempts: 1,
        error: { code: "EXIT_4", class: "application", exit_code: 4, stderr_tail: "no space\n" },
      },
    ]);
    expect((await cli.resume(id)).exitCode).toBe(3);

    cli.write("disk-ok", "");
    const dry = await cli.daruma("resolve", String(id), "disk", "--retry", "--dry-run");
    expect(dry.stdout).toBe(
      `dry run; nothing changed. It would do this:\n  disk: held -> ready\n  run ${id}: held -> running\n`,
    );
    expect((await cli.json<Hold[]>("holds", String(id))).value).toHaveLength(1);

    const resolved = await cli.daruma(
      "resolve",
      String(id),
      String(holds[0]?.id),
      "--retry",
      "--reason",
      "made room",
    );
    expect(resolved.exitCode).toBe(3);
    expect(resolved.stdout).toMatch(
      /^resolved by retry: made room\n {2}disk: held -> ready\n‖ run \d+ of batch held: 1 completed, 1 held, 1 blocked\n/,
    );
    const second = await cli.resume(id);
    expect(second.exitCode).toBe(3);
    expect(second.report.jobs).toMatchObject([
      { step: "disk", status: "completed", attempts: 2, visits: 2 },
      { step: "cpu", status: "held" },
      { step: "after", status: "blocked" },
    ]);

    const done = await cli.json<{ status: string }>(
      "resolve",
      String(id),
      "cpu",
      "--complete",
      '{"cores": 4}',
      "--no-resume",
    );
    expect(done.value).toMatchObject({
      status: "running",
      changed: [
        { step: "cpu", to: "completed" },
        { step: "after", to: "ready" },
      ],
    });
    const last = await cli.resume(id);
    expect(last.exitCode).toBe(0);
    expect(last.report.jobs.map(({ output }) => output)).toEqual(["", { cores: 4 }, 'got {"cores":4}']);

    const story = (await cli.daruma("explain", String(id))).stdout;
    expect(story).toContain(
      'Somebody resolved the hold by retry ("made room"): it runs again, with fresh budgets.',
    );
    expect(story).toContain(
      'Somebody resolved the hold by complete ("by hand"): it counts as completed with the given output.',
    );
  });

  it.each([
    ["--fail", 1, ["failed", "canceled", "canceled"]],
    ["--skip", 3, ["skipped", "held", "blocked"]],
  ])("resolved by %s leaves its dependents as it says", async (action, exitCode, statuses) => {
    const { report } = await cli.runJson(held("never"));
    const id = report.run_id;
    const resolved = await cli.daruma("resolve", String(id), "disk", action, "--reason", "so be it");
    // What is over by the decision itself did not go on.
    expect(resolved.exitCode).toBe(action === "--fail" ? 0 : exitCode);
    const after = await cli.resume(id);
    expect(after.exitCode).toBe(exitCode);
    expect(after.report.jobs.map(({ status }) => status)).toEqual(statuses);
  });

  it("of a run that is still at work is decided without a resume: its process goes on", async () => {
    const flow = `
name: busy
unhandled: hold
steps:
  bad: { type: command, exec: "exit 4" }
  slow: { type: command, exec: "until test -f busy-go; do sleep 0.05; done", depends_on: [] }
  after: { type: command, exec: "true", depends_on: [bad, slow] }
`;
    const running = cli.start("run", cli.write("busy.yaml", flow));
    const [, id = ""] = await running.until(/daruma holds (\d+)/);
    const listed = await cli.daruma("holds", id);
    expect(listed.stdout).toMatch(/^then: +process \d+ on \S+ goes on with it$/m);
    expect(listed.stdout).not.toContain("daruma resume");
    const { value: shown } = await cli.json<{
      summary: { holds: { owner: object | null; decisions: { decision: string; command: string }[] }[] };
    }>("show", id);
    expect(shown.summary.holds[0]).toMatchObject({
      owner: { pid: expect.any(Number) },
      decisions: expect.arrayContaining(
        [{ decision: "skip", command: `daruma resolve ${id} bad --skip --output-dir ${cli.outputDir}` }].map(
          (each) => expect.objectContaining(each),
        ),
      ),
    });
    const jobs = (await cli.daruma("jobs", id)).stdout;
    expect(jobs).toMatch(/after +blocked +0/);
    expect(jobs).toMatch(/bad +held +1/);
    await cli.daruma("resolve", id, "bad", "--skip");
    cli.write("busy-go", "");
    expect(await running.ended).toBe(0);
  });

  it("is resolved together with others, or none of them is", async () => {
    const flow = `
unhandled: hold
steps:
  a: { type: command, exec: "exit 1" }
  b: { type: command, exec: "exit 2" }
  ok: { type: command, exec: "true" }
`;
    const { report } = await cli.runJson(flow);
    const id = String(report.run_id);
    const mixed = await cli.daruma("resolve", id, "a", "ok", "--skip");
    expect(mixed.exitCode).toBe(2);
    expect(mixed.stderr).toMatch(
      /^error DECISIONS_REFUSED: 1 of 2 decisions is refused: job \d+: ok is completed, not held \(NOT_HELD\)\n/,
    );
    const alone = await cli.daruma("resolve", id, "ok", "--skip");
    expect(alone.stderr).toMatch(/^error NOT_HELD: ok is completed, not held\n/);
    expect((await cli.json<Hold[]>("holds", id)).value.map(({ step }) => step)).toEqual(["a", "b"]);
    const all = await cli.json<{ status: string; changed: unknown[] }>(
      "resolve",
      id,
      "--all",
      "--skip",
      "--key",
      "k1",
    );
    expect(all.value).toMatchObject({ status: "completed", changed: [{ step: "a" }, { step: "b" }] });
    const again = await cli.daruma("resolve", id, "a", "b", "--skip", "--key", "k1");
    expect(again.exitCode).toBe(0);
    expect(again.stdout).toMatch(/a: held -> skipped\n {2}b: held -> skipped/);
    const other = await cli.daruma("resolve", id, "a", "--fail", "--key", "k1");
    expect([other.exitCode, other.stderr.split(":")[0]]).toEqual([2, "error KEY_REUSED"]);
    expect((await cli.daruma("holds")).stdout).not.toContain(`(run ${id},`);
  });

  it("refuses what cannot be: no action, two actions, no jobs, no JSON, an unknown job", async () => {
    const { report } = await cli.runJson(held("never"));
    const id = String(report.run_id);
    const refusal = async (...args: string[]): Promise<string> => {
      const { exitCode, stderr } = await cli.daruma("resolve", id, ...args);
      expect(exitCode).toBe(2);
      return stderr.split("\n")[0]!;
    };
    expect(await refusal("disk")).toMatch(/^error USAGE: add exactly one of --retry/);
    expect(await refusal("disk", "--retry", "--skip")).toMatch(/^error USAGE: add exactly one/);
    expect(await refusal("--retry")).toMatch(/^error USAGE: name the jobs to resolve, or add --all/);
    expect(await refusal("disk", "--complete", "{")).toMatch(/^error USAGE: --complete: invalid JSON/);
    expect(await refusal("dusk", "--retry")).toMatch(/^error STEP_NOT_FOUND: run \d+ has no step dusk/);
    expect(await refusal("after", "--retry")).toMatch(/^error NOT_HELD: after is blocked/);
  });

  it("hides secrets in the words and the output of whoever decides", async () => {
    const flow = `
unhandled: hold
secrets: [HOLD_TOKEN]
steps: { a: { type: command, exec: "exit 1" }, b: { type: command, exec: "exit 1" } }
`;
    const env = { HOLD_TOKEN: "Sesame-open-4711" };
    const daruma = (...args: string[]) => runCli([...args, "--json", "--output-dir", cli.outputDir], env);
    const { stdout } = await daruma("run", cli.write("secret.yaml", flow));
    const id = String((JSON.parse(stdout) as Report).run_id);
    await daruma("resolve", id, "a", "--skip", "--reason", "is it sesame-OPEN-4711?");
    await daruma("resolve", id, "b", "--complete", '{"word": "Sesame-open-4711"}');
    const log = (await cli.daruma("events", id, "--json")).stdout;
    expect(log).toContain("is it [redacted:HOLD_TOKEN]?");
    expect(log).toContain('"word":"[redacted:HOLD_TOKEN]"');
    expect(log.toLowerCase()).not.toContain("sesame-open");
  });

  it("of a forEach step takes only an array", async () => {
    const flow = `
unhandled: hold
steps:
  list: { type: command, exec: "exit 1", forEach: true }
  each: { type: command, exec: "echo {{ outputs.list }}", depends_on: [list] }
  all: { type: command, exec: "echo {{ outputs.each | sh }}", depends_on: [each], fanout: reduce }
`;
    const { report } = await cli.runJson(flow);
    const id = report.run_id;
    const refused = await cli.daruma("resolve", String(id), "list", "--complete", '{"a": 1}');
    expect(refused.stderr).toMatch(/^error NOT_AN_ARRAY: list is a forEach step/);
    await cli.daruma("resolve", String(id), "list", "--complete", '["x", "y"]');
    const { exitCode, report: done } = await cli.resume(id);
    expect(exitCode).toBe(0);
    expect(done.jobs.find(({ step }) => step === "all")?.output).toEqual(["x", "y"]);
  });

  it("in a branch is named with its scope", async () => {
    const flow = `
unhandled: hold
steps:
  list: { type: command, exec: "echo '[1,2]'", forEach: true }
  each: { type: command, exec: "exit 1", depends_on: [list] }
`;
    const { report } = await cli.runJson(flow);
    const id = String(report.run_id);
    expect((await cli.daruma("resolve", id, "each", "--skip")).stderr).toMatch(
      /^error STEP_AMBIGUOUS: each has 2 jobs in run \d+: each@list\[0\] \(\d+\), each@list\[1\] \(\d+\)\n/,
    );
    expect((await cli.daruma("resolve", id, "each@list[0]", "--skip")).exitCode).toBe(0);
    expect((await cli.daruma("resolve", id, "each", "--scope", "root/list[1]", "--skip")).exitCode).toBe(0);
    expect((await cli.json<Report>("show", id)).value.status).toBe("completed");
  });

  it("of two items is one line of the inbox with one command for both, and they are decided by their ids", async () => {
    const { report } = await cli.runJson(`
name: inbox-items
unhandled: hold
steps:
  list: { exec: "echo '[1,2]'", forEach: true }
  each: { exec: exit 3, depends_on: [list] }
`);
    const jobs = report.jobs.filter(({ step }) => step === "each").map(({ id }) => String(id));
    const inbox = await cli.daruma("inbox", "--workflow", "inbox-items");
    const [, typed = ""] =
      /\ndecide them: {2}daruma decide (.*) --action retry --reason /.exec(inbox.stdout) ?? [];
    expect(typed.split(" ").sort()).toEqual(jobs);
    // Of one of them alone there is nothing to say about the other: all of the step are meant.
    const some = await cli.daruma("inbox", "--workflow", "inbox-items", "--items", "1");
    expect(some.stdout).toMatch(/\ndecide them: {2}daruma resolve \d+ 'each@\*' --retry /);
    const none = await cli.daruma("inbox", "--workflow", "inbox-items", "--items", "0");
    expect([none.exitCode, none.stderr, none.stdout.includes("decide")]).toEqual([0, "", false]);
    const [first, second] = jobs as [string, string];
    const dry = await cli.daruma("decide", first, "--action", "skip", "--dry-run");
    expect([dry.exitCode, dry.stdout]).toEqual([
      0,
      `dry run; nothing changed. 1 job would be skipped:\n  run ${report.run_id}: each@list[0]: held -> skipped\n`,
    ]);
    const refused = await cli.daruma("decide", first, "--action", "redrive", "--dry-run");
    expect(refused.stdout).toMatch(
      /^dry run; nothing would change: 1 of 1 job would be refused\n {2}job \d+: refused, .* \(NOT_DEAD_LETTER\)\n$/,
    );
    const told = await cli.daruma("decide", second, "--action", "retry", "--reason", "once more");
    expect(told.stdout).toMatch(/^1 job retried\n {2}run \d+: each@list\[1\]: held -> ready\n/);
    expect(told.stdout).toContain(`next: daruma resume ${report.run_id}`);
    await cli.daruma("resume", String(report.run_id));
    const broken = await cli.daruma("decide", ...jobs, "--action", "complete", "--output", '{"rows": 0');
    expect([broken.exitCode, broken.stderr.split("\n", 1)[0]]).toEqual([
      2,
      expect.stringMatching(/^error USAGE: --output: invalid JSON: /),
    ]);
    const { exitCode, value } = await cli.json<{ results: { job_id: number; ok: boolean }[] }>(
      ...["decide", ...jobs, "--action", "complete", "--output", '{"rows": 0}'],
    );
    const { value: job } = await cli.json<{ output: unknown }>("job", "show", first);
    expect(job.output).toEqual({ rows: 0 });
    expect([exitCode, value.results.map(({ job_id, ok }) => [String(job_id), ok])]).toEqual([
      0,
      jobs.map((job) => [job, true]),
    ]);
  });
});
