import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runCli } from "../support/cli.js";
import { CliFolder, type Report } from "../support/cli-folder.js";
import { HANG_MS } from "../support/hang.js";

const cli = new CliFolder();

/** `b` fails until the file `flag` is there; each attempt leaves a line in `flag.trace`. */
function failing(flag: string, more = ""): string {
  return `name: ${flag}
${more}
steps:
  a: { exec: "echo a >> ${flag}.trace" }
  b: { exec: "echo b >> ${flag}.trace; test -e ${flag}", depends_on: [a] }
`;
}

const trace = (flag: string): string[] =>
  readFileSync(join(cli.path, `${flag}.trace`), "utf8")
    .trim()
    .split("\n");

async function fail(flag: string, more = ""): Promise<string> {
  const { report } = await cli.runJson(failing(flag, more));
  cli.write(flag, "");
  return String(report.run_id);
}

describe("a decision about a run that nobody runs", () => {
  it("goes on in the run's own folder, wherever it is typed; the exit code is the run's", {
    tags: ["R8"],
  }, async () => {
    const id = await fail("elsewhere");
    const retried = await runCli(["retry", id, "b", "--output-dir", cli.outputDir], {}, "/");
    expect([retried.exitCode, retried.stdout]).toEqual([
      0,
      expect.stringMatching(
        /^b is retried with fresh budgets\n {2}b: failed -> ready\n✓ run \d+ .* completed /,
      ),
    ]);
    expect(trace("elsewhere")).toEqual(["a", "b", "b"]);
  });

  it("goes on once where two are made at once: no command is refused because another one decides", {
    tags: ["R8"],
  }, async () => {
    const id = await fail("twice");
    const both = await Promise.all([cli.daruma("retry", id, "b"), cli.daruma("retry", id, "b")]);
    expect(both.map(({ stderr }) => stderr).join("")).not.toContain("RUN_OWNED");
    expect((await cli.json<Report>("show", id)).value.status).toBe("completed");
    expect(trace("twice")).toEqual(["a", "b", "b"]);
  });

  it("fails with the run", { tags: ["R8"] }, async () => {
    const id = await fail("still");
    rmSync(join(cli.path, "still"));
    expect((await cli.daruma("retry", id, "b")).exitCode).toBe(1);
  });

  it.each([
    ["reset", (id: string) => ["reset", id], ""],
    ["resolve", (id: string) => ["resolve", id, "b", "--retry"], "unhandled: hold"],
    ["resume-from", (id: string) => ["resume-from", id, "b"], ""],
  ])(
    "%s goes on as well; with --json the run's report is printed",
    { tags: ["R8"] },
    async (word, args, more) => {
      const id = await fail(`go-${word}`, more);
      const { exitCode, value } = await cli.json<Report>(...args(id));
      expect([exitCode, value.run_id, value.status]).toEqual([0, Number(id), "completed"]);
      expect(trace(`go-${word}`)).toEqual(["a", "b", "b"]);
    },
  );

  it("is only recorded with --no-resume, and exits 0", { tags: ["R8"] }, async () => {
    const id = await fail("recorded");
    const { exitCode, stdout } = await cli.daruma("retry", id, "b", "--no-resume");
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining(`\nnext: daruma resume ${id} `)]);
    expect(trace("recorded")).toEqual(["a", "b"]);
  });

  it("is only recorded where it is a dry run", { tags: ["R8"] }, async () => {
    const id = await fail("dry");
    const { exitCode, stdout } = await cli.daruma("retry", id, "b", "--dry-run");
    expect([exitCode, stdout]).toEqual([0, expect.stringMatching(/^dry run; nothing changed/)]);
    expect(trace("dry")).toEqual(["a", "b"]);
  });

  it("is recorded for a server where the run is a server's", { tags: ["R8"], timeout: HANG_MS }, async () => {
    const server = cli.start("serve", "--port", "0");
    const [, url = ""] = await server.until(/listening at (http:\S+)/);
    const file = cli.write("served.yaml", failing("served"));
    const ran = await runCli(["run", file, "--json", "--server", url]);
    const id = String((JSON.parse(ran.stdout) as Report).run_id);
    server.kill("SIGTERM");
    await server.ended;
    cli.write("served", "");
    const { exitCode, stdout } = await cli.daruma("retry", id, "b");
    expect([exitCode, stdout]).toEqual([
      0,
      `b is retried with fresh budgets\n  b: failed -> ready\nrun ${id} is a server's: it waits until one is started\n`,
    ]);
    expect(trace("served")).toEqual(["a", "b"]);
  });

  it("is only recorded by a redrive", { tags: ["R8"] }, async () => {
    const { report } = await cli.runJson(`name: queued
queue: { max_attempts: 1, classes: [application], backoff: { mode: none } }
steps: { call: { exec: "test -e network || exit 7" } }`);
    cli.write("network", "");
    const { exitCode, stdout } = await cli.daruma("redrive", String(report.jobs[0]!.id));
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining(`next: daruma resume ${report.run_id} `)]);
  });
});

describe("a file that was edited since its run started", () => {
  it("is named by retry and resume, with the fork that takes it; the run keeps what it was", {
    tags: ["R12"],
  }, async () => {
    const id = await fail("edited");
    const file = join(cli.path, "flow.yaml");
    const same = await cli.daruma("retry", id, "b");
    expect([same.exitCode, same.stderr]).toEqual([0, expect.not.stringContaining("has changed")]);
    const second = await fail("edited-too");
    writeFileSync(file, failing("edited-too").replace("test -e", "echo mended; test -e"));
    const { exitCode, stderr } = await cli.daruma("retry", second, "b", "--no-resume");
    expect([exitCode, stderr]).toEqual([0, ""]);
    const resumed = await cli.daruma("resume", second);
    expect(resumed.stderr).toContain(
      `warning: ${file} has changed since run ${second} started, which goes on with what it was; to continue with the new one: daruma fork ${second} --from b --file ${file} --output-dir ${cli.outputDir}\n`,
    );
    expect(resumed.stdout).not.toContain("mended");
    const third = await fail("edited-third");
    writeFileSync(file, "steps: 7\n");
    expect((await cli.daruma("retry", third, "b")).stderr).toContain(
      `${file} has changed since run ${third}`,
    );
  });
});

describe("the natural next command after a failed sweep", () => {
  it("does not run all of it again: 300 jobs of the batch form, 7 % of which fail", {
    tags: ["R13"],
    timeout: HANG_MS,
  }, async () => {
    const file = cli.write(
      "sweep.yaml",
      `name: sweep300
jobs:
  - name: work_{i:03d}
    command: 'echo {i} >> sweep.trace; test $(( {i} % 14 )) -ne 0 || test -e sweep.ok'
    parameters: { i: "1:300" }
  - name: sum
    command: 'echo sum >> sweep.trace'
    depends_on_regexes: ["work_.*"]
`,
    );
    const trace = join(cli.path, "sweep.trace");
    const ran = (): number => readFileSync(trace, "utf8").trim().split("\n").length;
    const first = await runCli(["run", file, "--output-dir", cli.outputDir], {}, cli.path);
    expect([first.exitCode, ran()]).toEqual([3, 300]);
    expect(first.stdout).toContain("\nto run them again:  daruma resolve ");
    cli.write("sweep.ok", "");
    rmSync(trace);
    const next = await runCli(["run", "sweep.yaml", "--reuse", "--output-dir", cli.outputDir], {}, cli.path);
    expect([next.exitCode, ran()]).toEqual([0, 22]);
    expect(next.stdout).toContain("301 completed (279 taken over)");
  });
});

describe("daruma retry of several steps", () => {
  const SWEEP = `name: sweep
steps:
  list: { type: script, content: "return ['x', 'y', 'z']", forEach: true }
  work: { exec: 'echo {{ foreach.index }} >> items.trace; test {{ foreach.index }} = 1 || test -e mended', depends_on: [list] }
  train_1: { exec: "test -e mended" }
  train_2: { exec: "true" }`;

  it("takes names, items and globs: of a glob what could run again", { tags: ["R9"] }, async () => {
    const { report } = await cli.runJson(SWEEP);
    const id = String(report.run_id);
    cli.write("mended", "");
    rmSync(join(cli.path, "items.trace"));
    const none = await cli.daruma("retry", id, "train_?", "nothing*");
    expect([none.exitCode, none.stderr]).toEqual([
      2,
      expect.stringMatching(/^error STEP_NOT_FOUND: .* nothing\*/),
    ]);
    const done = await cli.daruma("retry", id, "list*");
    expect(done.stderr).toMatch(
      /^error NOT_RETRYABLE: no step like list\* of run \d+ is failed, canceled or held/,
    );
    const { stdout } = await cli.daruma("retry", id, "train_*", "work@list[0]");
    expect(stdout).toMatch(
      /^retried with fresh budgets:\n {2}train_1: failed -> ready\n {2}work@list\[0\]: failed -> ready\n/,
    );
    expect(readFileSync(join(cli.path, "items.trace"), "utf8")).toBe("0\n");
    const rest = await cli.daruma("retry", id, "work*");
    expect([rest.exitCode, readFileSync(join(cli.path, "items.trace"), "utf8")]).toEqual([0, "0\n2\n"]);
    expect(existsSync(join(cli.path, "mended"))).toBe(true);
  });
});

it("daruma retry of a run without a step is its reset: all that failed runs again, and nothing else", async () => {
  const { report } = await cli.runJson(
    "steps: { fine: { exec: 'echo x >> fine.trace' }, one: { exec: test -e mend }, two: { exec: test -e mend } }",
  );
  cli.write("mend", "");
  const id = String(report.run_id);
  const planned = await cli.daruma("retry", id, "--dry-run");
  expect(planned.stdout).toContain("one: failed -> ready\n  two: failed -> ready\n");
  const again = await cli.daruma("retry", id);
  expect([again.exitCode, again.stdout]).toEqual([
    0,
    expect.stringMatching(/^run \d+: failed, canceled and held steps run again\n[\s\S]*3 completed/),
  ]);
  expect(readFileSync(join(cli.path, "fine.trace"), "utf8")).toBe("x\n");
});

it("daruma resolve takes globs, of the steps that are held", async () => {
  const file = cli.write(
    "globs.yaml",
    "name: globs\nunhandled: hold\nsteps: { sim_1: { exec: test -e ok }, sim_2: { exec: test -e ok }, other: { exec: 'true' } }",
  );
  expect((await cli.daruma("run", file)).exitCode).toBe(3);
  const none = await cli.daruma("resolve", "last", "oth*", "--retry");
  expect([none.exitCode, none.stderr]).toEqual([2, expect.stringContaining("no step like oth* is held")]);
  cli.write("ok", "");
  const both = await cli.daruma("resolve", "last", "sim_*", "--retry");
  expect([both.exitCode, both.stdout]).toEqual([0, expect.stringContaining("3 completed")]);
  const wrong = await cli.daruma("retry", "last", "nothing*");
  expect(wrong.stderr).toMatch(/See `daruma show \d+`/);
});
