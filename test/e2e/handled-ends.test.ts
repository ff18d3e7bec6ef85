import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runCli } from "../support/cli.js";
import { CliFolder, type Report } from "../support/cli-folder.js";
import { blocksOf } from "../support/document-blocks.js";
import { LiveServers } from "../support/live-server.js";

const cli = new CliFolder();
const servers = new LiveServers();

/** Its tests are red, and its fallback works. */
const RELEASE = `
name: release
steps:
  test: { exec: "echo '2 of 40 tests fail' >&2; exit 1" }
  publish: { exec: "echo published", depends_on: [test] }
  fallback: { exec: "echo back" }
transitions: [{ from: test, to: fallback, on: failure }]
`;
const END = /^! run 1 of release completed, 1 failure handled: test, by fallback; skipped: publish$/m;

interface Strict extends Report {
  readonly strict: boolean;
}

const run = (...flags: string[]) => cli.daruma("run", cli.write("release.yaml", RELEASE), ...flags);

describe("a completed run in which a failure was handled", () => {
  it("ends in amber and with 0, in the terminal and in lists, and says what did not run", async () => {
    const ended = await run();
    expect([ended.exitCode, ended.stdout]).toEqual([0, expect.stringMatching(END)]);
    expect(ended.stdout).not.toContain("✓");
    expect((await cli.daruma("show", "1")).stdout).toMatch(END);
    expect((await cli.daruma("resume", "1")).stdout).toMatch(END);
    expect((await cli.daruma("watch", "1")).stdout).toMatch(END);
    expect((await cli.daruma("resume", "1", "--quiet")).stdout).toMatch(END);
    const [, row] = (await cli.daruma("list")).stdout.split("\n");
    expect(row).toMatch(/^1 +completed, 1 handled +release .*test failed \(EXIT_1\) and went to fallback$/);
  });

  it("is told to programs with what handled the failure and what was skipped", async () => {
    const { value, exitCode } = await cli.json<Strict>("show", "1");
    expect(exitCode).toBe(0);
    expect(value).toMatchObject({
      strict: false,
      handled_failures: [{ step: "test", code: "EXIT_1", how: "edge", by: "fallback", then: "skip" }],
      skipped_by_failure: [{ step: "publish", failure: "test" }],
    });
  });

  it("is skipped in JUnit, a warning for GitHub and a line in Markdown", async () => {
    const report = async (format: string) => (await cli.daruma("report", "1", "--format", format)).stdout;
    expect(await report("junit")).toContain('tests="3" failures="0" errors="0" skipped="2"');
    expect(await report("junit")).toMatch(
      /name="test".*\n +<skipped message="failed and was handled by fallback: /,
    );
    expect(await report("junit")).toContain('<skipped message="skipped: test failed (EXIT_1)"/>');
    expect(await report("github")).toMatch(
      /^::warning title=test failed and was handled by fallback \(EXIT_1\)::/,
    );
    expect(await report("markdown")).toMatch(/^⚠ 1 failure handled: test, by fallback; skipped: publish\.$/m);
  });
});

describe("a list of runs", () => {
  it("tells a strict run, and where that makes it fail", async () => {
    const strict = await run("--strict");
    expect(strict.exitCode).toBe(1);
    const clean = await cli.daruma(
      "run",
      cli.write("clean.yaml", "steps: { a: { exec: 'true' } }"),
      "--strict",
    );
    expect(clean.exitCode).toBe(0);
    const [, first, second] = (await cli.daruma("list")).stdout.split("\n");
    expect(first).toMatch(/^\d+ +completed, strict +clean /);
    expect(second).toMatch(/^\d+ +completed, 1 handled, strict: exit 1 +release .*went to fallback$/);
    const { value } = await cli.json<object[]>("list", "--limit", "2");
    expect(value).toMatchObject([
      { strict: true, fails_by_strict: null },
      { strict: true, fails_by_strict: "a failure was handled" },
    ]);
  });

  it("tells what holds a run", async () => {
    const steps = "deploy: { exec: 'echo no room >&2; exit 4' }, page: { exec: 'exit 4' }";
    const held = await cli.daruma("run", cli.write("hold.yaml", `unhandled: hold\nsteps: { ${steps} }`));
    expect(held.exitCode).toBe(3);
    const [, row] = (await cli.daruma("list")).stdout.split("\n");
    expect(row).toMatch(
      /^\d+ +held +hold .* (deploy: no room \(EXIT_4\)|page: exit code 4); 1 more wait for a person$/,
    );
    const { value } = await cli.json<object[]>("list", "--limit", "1");
    expect(value).toMatchObject([{ waiting: 2, asks: "hold", waits_at: { scope: "root", code: "EXIT_4" } }]);
  });

  it("tells which child holds a run", async () => {
    cli.write("child.yaml", "unhandled: hold\nsteps: { ok: { exec: exit 3 } }");
    const parent = cli.write("parent.yaml", "steps: { call: { type: workflow, file: child.yaml } }");
    expect((await cli.daruma("run", parent)).exitCode).toBe(3);
    const [, child, top] = (await cli.daruma("list")).stdout.split("\n");
    expect(child).toMatch(/ held +child .* ok: exit code 3$/);
    expect(top).toMatch(/ held +parent .* waits for run \d+, held: ok$/);
  });
});

describe("what becomes of a failure", () => {
  const flow = (then: string) => RELEASE.replace("on: failure }", `on: failure, then: ${then} }`);

  it("decides how the run ends: with fail it failed, with continue the rest ran", async () => {
    const failed = await cli.runJson(flow("fail"));
    expect([failed.exitCode, failed.report.status, failed.report.error?.code]).toEqual([
      1,
      "failed",
      "EXIT_1",
    ]);
    const went = await cli.daruma("run", cli.write("flow.yaml", flow("continue")));
    expect([went.exitCode, went.stdout]).toEqual([
      0,
      expect.stringMatching(/^! run \d+ of release completed, 1 failure handled: test, by fallback$/m),
    ]);
    expect(went.stdout).toContain("2 completed, 1 failed (handled)");
  });

  it("is drawn, and set by the command line", async () => {
    const file = cli.write("drawn.yaml", RELEASE);
    expect(
      (await cli.daruma("edge", "change", file, "--transition", "1", "--then", "fail", "--write")).exitCode,
    ).toBe(0);
    expect(readFileSync(file, "utf8")).toContain("{ from: test, to: fallback, on: failure, then: fail }");
    const drawn = async (format: string) => (await cli.daruma("graph", file, "--format", format)).stdout;
    expect(await drawn("mermaid")).toContain('n0 -.->|"on failure 1, then fail"| n2');
    expect(await drawn("dot")).toContain('style="dashed,bold" color="#dc2626"');
    expect(JSON.parse(await drawn("json"))).toMatchObject({
      edges: [{}, { kind: "transition_failure", then: "fail" }],
    });
  });

  it("is said by the release of the README: it does not end green when its tests are red", async () => {
    const release = blocksOf("README.md").find(({ text }) => text.startsWith("name: release\n"))!.text;
    const stubbed = release.replace(
      /exec: (.*)/g,
      (_, what) => `exec: "${/npm test/.test(what) ? "false" : "true"}"`,
    );
    const { exitCode, report } = await cli.runJson(stubbed, "--retry-max", "0");
    expect(stubbed.match(/exec: "(true|false)"/g)).toHaveLength(5);
    expect([exitCode, report.status]).toEqual([1, "failed"]);
    const status = (step: string) => report.jobs.find((job) => job.step === step)?.status;
    expect([status("fallback"), status("publish")]).toEqual(["completed", "canceled"]);
  });
});

describe("--strict", () => {
  it("of a later command is for its answer alone, and leaves the status", async () => {
    const ended = await cli.json<Strict>("resume", "1", "--strict");
    expect([ended.exitCode, ended.value.status, ended.value.strict]).toEqual([1, "completed", true]);
    expect((await cli.daruma("watch", "1", "--strict")).exitCode).toBe(1);
    expect((await cli.daruma("watch", "1")).exitCode).toBe(0);
    const strict = await cli.daruma("report", "1", "--format", "junit", "--strict");
    expect(strict.stdout).toContain('tests="3" failures="1" errors="0" skipped="1"');
    const plain = await cli.daruma("report", "1", "--format", "junit");
    expect(plain.stdout).toContain('failures="0"');
  });

  it("of run is recorded: resume, watch and reports obey it, and the run is completed", async () => {
    const junit = join(cli.path, "strict.xml");
    const ended = await run("--strict", "--report", `junit=${junit}`, "--report", "github");
    expect([ended.exitCode, ended.stdout]).toEqual([
      1,
      expect.stringContaining("strict: the exit code is 1"),
    ]);
    expect(ended.stderr).toMatch(/^::error title=test failed \(EXIT_1\)::/m);
    expect(readFileSync(junit, "utf8")).toContain('failures="1"');
    expect((await cli.daruma("resume", "last")).exitCode).toBe(1);
    expect((await cli.daruma("watch", "last")).exitCode).toBe(1);
    const { value } = await cli.json<Strict>("show", "last");
    expect([value.status, value.strict]).toEqual(["completed", true]);
  });

  it("does nothing to a run in which nothing failed, and leaves other ends their exit codes", async () => {
    expect((await cli.runJson("steps: { a: { exec: 'true' } }", "--strict")).exitCode).toBe(0);
    const held = "unhandled: hold\nsteps: { a: { exec: exit 1 } }";
    expect((await cli.runJson(held, "--strict")).exitCode).toBe(3);
  });

  it("is obeyed by whatever goes on with the run, and inherited by a fork, but not by a run that reuses it", async () => {
    const file = cli.write("release.yaml", RELEASE.replace("exit 1", "test -e mended"));
    expect((await cli.daruma("run", file, "--strict")).exitCode).toBe(1);
    const ends = async (...args: string[]) => {
      const { value, exitCode } = await cli.json<Strict>(...args);
      return [exitCode, value.status, value.strict];
    };
    expect(await ends("retry", "last", "test", "--force")).toEqual([1, "completed", true]);
    expect(await ends("fork", "last", "--from", "test")).toEqual([1, "completed", true]);
    expect(await ends("run", file, "--reuse")).toEqual([0, "completed", false]);
    expect(await ends("fork", "last", "--from", "test", "--strict")).toEqual([1, "completed", true]);
    cli.write("mended", "");
    expect(await ends("resume-from", "last", "test", "--force", "--strict")).toEqual([0, "completed", true]);
  });

  it("of a run at a server is recorded there", async () => {
    const server = await servers.start();
    const at = ["--server", server.url];
    const file = cli.write("release.yaml", RELEASE);
    const ended = await runCli(["run", file, "--strict", ...at]);
    expect([ended.exitCode, ended.stdout]).toEqual([1, expect.stringMatching(END)]);
    expect((await runCli(["resume", "1", ...at])).exitCode).toBe(1);
    expect((await runCli(["run", file, ...at])).exitCode).toBe(0);
    expect((await runCli(["watch", "2", "--strict", ...at])).exitCode).toBe(1);
  });
});

it("a child run obeys --strict, and its parent does not end green", async () => {
  cli.write("release.yaml", RELEASE);
  const parent = cli.write(
    "parent.yaml",
    "name: parent\nsteps: { ship: { type: workflow, file: release.yaml } }\n",
  );
  const ended = await cli.daruma("run", parent, "--strict");
  expect([ended.exitCode, ended.stdout]).toEqual([
    1,
    expect.stringMatching(/^! run \d+ of parent completed, 1 failure handled: test in run \d+ of release$/m),
  ]);
  const { value } = await cli.json<Strict>("show", "last");
  expect([value.status, value.strict]).toEqual(["completed", true]);
  expect((await cli.daruma("run", parent)).exitCode).toBe(0);
});

describe("a parent run", () => {
  const CHILD =
    "name: child\nsteps:\n  t: { exec: exit 1 }\n  mend: { exec: 'true' }\ntransitions: [{ from: t, to: mend, on: failure }]\n";
  const PARENT = "name: parent\nsteps: { ship: { type: workflow, file: child.yaml } }\n";
  const ids = (ended: { readonly stdout: string }) => Number(/run (\d+) of parent/.exec(ended.stdout)![1]);

  it("names the failure that its child handled in reports, explain and list", async () => {
    cli.write("child.yaml", CHILD);
    const parent = ids(await cli.daruma("run", cli.write("above.yaml", PARENT)));
    const id = String(parent);
    const told = `1 failure handled in run ${parent + 1}: t`;
    const report = async (...flags: string[]) => (await cli.daruma("report", id, ...flags)).stdout;
    expect(await report("--format", "junit")).toMatch(
      new RegExp(`failures="0"[^]*<skipped message=".*${told}`),
    );
    expect(await report("--format", "junit", "--strict")).toMatch(
      new RegExp(`failures="1"[^]*<failure message="${told}`),
    );
    expect(await report("--format", "github")).toMatch(new RegExp(`^::warning title=ship .*::${told}`));
    expect(await report("--format", "github", "--strict")).toMatch(
      new RegExp(`^::error title=ship .*::${told}`),
    );
    const explained = (await cli.daruma("explain", id)).stdout;
    expect(explained).toContain(told);
    expect(explained).not.toContain("Nothing is left to do");
    expect((await cli.daruma("list")).stdout).toMatch(
      new RegExp(`^${parent} +completed, 1 handled +parent .*${told}`, "m"),
    );
  });

  it("has forks that are not green where they take over the step of that child, with and without --strict", async () => {
    cli.write("child.yaml", CHILD);
    const two = `${PARENT.replace("{ ship: ", "\n  ship: ").replace(" } }", " }")}  last: { exec: "true", depends_on: ship }\n`;
    const parent = ids(await cli.daruma("run", cli.write("forked.yaml", two)));
    const told = `completed, 1 failure handled: t in run ${parent + 1} of child`;
    const fork = await cli.daruma("fork", String(parent), "--from", "last");
    expect([fork.exitCode, fork.stdout]).toEqual([0, expect.stringContaining(told)]);
    expect(fork.stdout).not.toContain("✓");
    const again = await cli.daruma("fork", "last", "--from", "last", "--strict");
    expect([again.exitCode, again.stdout]).toEqual([1, expect.stringContaining(told)]);
    expect((await cli.daruma("list")).stdout.split("\n")[1]).toMatch(/^\d+ +completed, 1 handled +parent /);
    expect((await cli.daruma("report", "last", "--format", "junit", "--strict")).stdout).toContain(
      'failures="1"',
    );
  });

  it("is not green while its child is open again, and says what to resume", async () => {
    cli.write("child.yaml", CHILD);
    const parent = ids(await cli.daruma("run", cli.write("above.yaml", PARENT)));
    const [id, child] = [String(parent), String(parent + 1)];
    await cli.daruma("retry", child, "t", "--force", "--no-resume");
    const open = `its run ${child} is open: daruma resume ${child}`;
    const ended = await cli.daruma("resume", id);
    expect([ended.exitCode, ended.stdout]).toEqual([
      0,
      expect.stringMatching(new RegExp(`^! run ${id} of parent completed, ${open}$`, "m")),
    ]);
    expect((await cli.daruma("resume", id, "--strict")).exitCode).toBe(1);
    expect((await cli.daruma("explain", id)).stdout).toContain(open);
    const listed = (await cli.daruma("list")).stdout;
    expect(listed).toMatch(new RegExp(`to continue it: .*resume ${child}\\b`));
    expect(listed).not.toMatch(new RegExp(`to continue it: .*resume ${id}\\b`));
    expect((await cli.daruma("resume", child)).exitCode).toBe(0);
  });
});

it("a channel hears of completed runs, and apart from them of handled failures", async () => {
  const heard = join(cli.path, "heard.txt");
  const config = cli.write(
    "daruma.config.yaml",
    `channels: { ops: { type: command, command: [sh, -c, 'echo "$DARUMA_MESSAGE_KIND: $DARUMA_SUBJECT" >> ${heard}'] } }
notify: [{ on: [completed, handled], to: ops }]
`,
  );
  writeFileSync(heard, "");
  await run("--config", config);
  await cli.daruma(
    "run",
    cli.write("ok.yaml", "name: ok\nsteps: { a: { exec: 'true' } }"),
    "--config",
    config,
  );
  const parent = "name: parent\nsteps: { ship: { type: workflow, file: release.yaml } }\n";
  await cli.daruma("run", cli.write("parent.yaml", parent), "--config", config);
  const lines = [
    "handled: release: run \\d+ completed, but test failed and was handled \\(.*\\)",
    "completed: ok: run \\d+ completed",
    "handled: parent: run \\d+ completed, but 1 failure in its child run \\d+ was handled",
  ];
  expect(readFileSync(heard, "utf8")).toMatch(new RegExp(`^${lines.join("\n")}\n$`));
});
