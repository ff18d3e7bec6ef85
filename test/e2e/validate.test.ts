import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { defineWorkflow } from "../../src/file/builder.js";
import { Daruma } from "../../src/host/daruma.js";
import { CliFolder, type Report } from "../support/cli-folder.js";

const cli = new CliFolder();

describe("what is not a file", () => {
  it.each(["validate", "run", "graph"])("is refused by %s at once, with its kind", async (command) => {
    const pipe = join(cli.path, `pipe-${command}`);
    expect(spawnSync("mkfifo", [pipe]).status).toBe(0);
    for (const [path, kind] of [
      [pipe, "a pipe"],
      [cli.path, "a folder"],
      ["/dev/zero", "a device"],
    ] as const) {
      const { exitCode, stderr } = await cli.daruma(command, path);
      expect(exitCode).toBe(2);
      expect(stderr).toContain("NOT_A_FILE");
      expect(stderr).toContain(`${path} is ${kind}\n`);
      const next =
        kind === "a folder"
          ? "Name a workflow file in it; `daruma init` writes a first one."
          : "Name a regular file. Save the output of a pipe to a file first.";
      expect(stderr).toContain(`hint: ${next}\n`);
    }
  });

  it.each([
    ["main.js", (file: string) => `\`node ${file}\` starts it: a program runs its workflows itself.`],
    ["main.ts", (file: string) => `\`node ${file}\` starts it: a program runs its workflows itself.`],
    ["package.json", () => "`daruma init`, in its folder, writes a workflow file that runs its scripts."],
    ["Makefile", () => "`daruma init`, in its folder, writes a workflow file that runs its targets."],
    [
      "build.sh",
      (file: string) => `a step runs it: \`daruma init\` writes a workflow file, with \`exec: sh ${file}\`.`,
    ],
  ])("is answered with what runs it: %s", async (name, next) => {
    const file = cli.write(name, '{ "name": "x", "scripts": { "test": "true" } }');
    for (const command of ["run", "validate", "graph"]) {
      const { exitCode, stderr } = await cli.daruma(command, file);
      expect(exitCode).toBe(2);
      expect(stderr).toContain(`NOT_A_WORKFLOW`);
      expect(stderr).toContain(`${file} is no workflow file\n`);
      expect(stderr).toContain(`hint: ${next(file)}\n`);
    }
    expect((await cli.daruma("run", join(cli.path, `no-${name}`))).stderr).toContain("FILE_NOT_FOUND");
  });
});

describe("a step that nothing can start", () => {
  it("is refused by validate and run, because the run would end green without it", async () => {
    const file = cli.write(
      "loop.yaml",
      `steps:
  build: { exec: make }
  test: { exec: make test }
  fix: { exec: ./fix }
transitions:
  - { from: test, to: fix, on: failure, then: continue }
  - { from: fix, to: test }
`,
    );
    const why =
      "it waits for a run list or a transition, and no step that runs has one to it\n  hint: `test` waits because something routes to it; give it `start: auto` if it should start on its own.";
    for (const command of ["validate", "run"]) {
      const { exitCode, stdout, stderr } = await cli.daruma(command, file);
      expect([exitCode, stdout]).toEqual([2, ""]);
      expect(stderr).toContain(`${file}:3:3 UNREACHABLE_STEP the step \`test\` can never run: ${why}`);
    }
  });

  it("may be started by a person where the file says that it is only routed to", async () => {
    const file = cli.write(
      "spare.yaml",
      "steps: { a: { exec: 'true' }, spare: { exec: echo here, start: routed } }",
    );
    const ran = await cli.daruma("run", file);
    expect(ran.exitCode).toBe(0);
    expect(ran.stderr).toContain("UNREACHABLE_STEP the step `spare` never runs by itself");
    const again = await cli.daruma("resume-from", "last", "spare");
    expect([again.exitCode, again.stdout]).toEqual([0, expect.stringContaining("2 completed")]);
  });
});

describe("names in expressions and templates", () => {
  it("are looked up: each that does not exist is told with place, code and hint", async () => {
    const file = cli.write(
      "typos.yaml",
      `inputs: { target: string }
steps:
  build: { exec: "make {{ inputs.targett | sh }}" }
  test:
    depends_on: [build]
    exec: echo {{ output.build | sh }} {{ outputs.biuld | sh }}
    on_fail: { goto_js: "return outptus.build && error.exitcode == 3 ? 'build' : null" }
`,
    );
    const { exitCode, stdout, stderr } = await cli.daruma("validate", file);
    expect(stderr).toBe(`${file}:3:34 UNKNOWN_NAME unknown input \`targett\`, did you mean \`target\`?
  hint: Rename it to \`target\`.
${file}:6:19 UNKNOWN_NAME unknown name \`output\`, did you mean \`outputs\`?
  hint: Rename it to \`outputs\`.
${file}:6:51 UNKNOWN_STEP \`outputs.biuld\` is not a step of the file, did you mean \`outputs.build\`?
  hint: Write \`outputs.build\`, or define the step.
${file}:7:33 UNKNOWN_NAME unknown name \`outptus\`, did you mean \`outputs\`?
  hint: Rename it to \`outputs\`.
${file}:7:56 UNKNOWN_NAME \`error\` has no field \`exitcode\`, did you mean \`exit_code\`?
  hint: Rename it to \`exit_code\`.
5 errors
`);
    expect(stdout).toBe("");
    expect(exitCode).toBe(2);
    expect((await cli.daruma("run", file)).exitCode).toBe(2);
  });

  it("are warned of where the output may be missing, and where a shell would read a value as code", async () => {
    const file = cli.write(
      "risky.yaml",
      `inputs: { target: string }
steps:
  build: { exec: "make {{ inputs.target }}" }
  test: { exec: "echo '{{ outputs.build | sh }}'" }
`,
    );
    const { exitCode, stdout, stderr } = await cli.daruma("validate", file);
    expect(
      stderr,
    ).toBe(`${file}:3:24 UNQUOTED_IN_SHELL \`{{ inputs.target }}\` is not quoted: the shell would run its contents
  hint: Write \`{{ inputs.target | sh }}\`.
${file}:4:24 UNQUOTED_IN_SHELL \`{{ outputs.build | sh }}\` is quoted twice
  hint: Remove the quotes around it: \`| sh\` adds its own, and inside other quotes they do not protect.
${file}:4:27 OUTPUT_MAY_BE_MISSING \`test\` reads the output of \`build\`, but may run before it
  hint: Add \`build\` to the depends_on of \`test\`, or give it a \`default\`.
3 warnings
`);
    expect(stdout).toContain("risky.yaml: valid, 2 steps\n");
    expect(exitCode).toBe(0);
  });

  it("are not looked up again in a definition that is stored: its run can be resumed and forked", async () => {
    // The builder without its checks stands for a version of Daruma that did not look.
    const definition = defineWorkflow({
      name: "stored",
      unhandled: "hold",
      steps: {
        first: { type: "command", exec: "exit 1" },
        second: { type: "command", exec: "echo {{ outptus | default: 'fine' }}", depends_on: ["first"] },
      },
    });
    const daruma = await Daruma.open({ outputDir: cli.outputDir });
    const { runId, result } = await daruma.start(definition);
    expect((await result).status).toBe("held");
    await daruma.close();
    await cli.daruma("resolve", String(runId), "first", "--complete", "1");
    const { exitCode, report } = await cli.resume(runId);
    expect(report.jobs.map(({ output }) => output)).toEqual([1, "fine"]);
    expect(exitCode).toBe(0);
    const forked = await cli.json<Report>("fork", String(runId), "--from", "second");
    expect(forked.value.jobs.map(({ output }) => output)).toEqual([1, "fine"]);
  });
});

describe("the shell of each step", () => {
  it("is shown, with what it would hide", async () => {
    const file = cli.write(
      "shells.yaml",
      `steps:
  build: { exec: "make | tee log" }
  test: { exec: "make test", depends_on: [build] }
  deploy: { shell: bash, exec: "./deploy.sh | tee log", depends_on: [test] }
  list: { exec: [echo, a] }
`,
    );
    const { exitCode, stdout, stderr } = await cli.daruma("validate", file);
    expect(
      stderr,
    ).toBe(`${file}:2:24 PIPE_HIDES a failure before this pipe is not noticed: \`sh\` looks only at the last command
  hint: Add \`shell: bash\`, which notices all of them.
1 warning
`);
    expect(stdout).toContain(
      `valid, 4 steps\nshell: sh -e -c; bash -e -o pipefail -c for deploy\nworst case:`,
    );
    expect(exitCode).toBe(0);
    const json = JSON.parse((await cli.daruma("validate", file, "--json")).stdout);
    expect(json.files[0].shells).toEqual([
      { shell: "sh -e -c", steps: ["build", "test"] },
      { shell: "bash -e -o pipefail -c", steps: ["deploy"] },
    ]);
  });

  it("must fit what it is to run", async () => {
    const file = cli.write(
      "no-shells.yaml",
      `shell: fish
steps:
  a: { shell: bash, exec: [echo, a] }
  b: { shell: [sh, "{{ inputs.x }}"], exec: echo a }
  c: { shell: sh, type: noop }
`,
    );
    const { exitCode, stderr } = await cli.daruma("validate", file);
    expect(exitCode).toBe(2);
    expect(stderr.split("\n").filter((line) => line.startsWith(file))).toEqual([
      `${file}:1:8 INVALID_VALUE \`fish\` is not allowed here`,
      `${file}:3:8 INVALID_VALUE \`shell\` does not apply to an \`exec\` that is a list`,
      `${file}:4:20 INVALID_VALUE \`{{ inputs.x }}\` is not allowed here`,
      `${file}:5:8 UNKNOWN_KEY unknown key \`shell\` here: it belongs to \`type: command or agent\`, this step is \`noop\``,
    ]);
    expect(stderr).toContain(
      "hint: Write one of `sh`, `bash`, or a list of a program and its arguments, such as `[zsh, -e, -c]`.",
    );
  });
});

describe("an edge that is added from the command line", () => {
  it("changes the file at one place, and a problem in it comes with its fix", async () => {
    const text = `steps:
  a: { exec: one } # the first
  b: { exec: two }
transitions:
  - { from: a, to: b, on: failure, priority: 1 }
`;
    const file = cli.write("edged.yaml", text);
    const edge = ["--from", "a", "--to", "b", "--on", "failure", "--priority", "1"];
    const printed = await cli.daruma("edge", "add", file, ...edge);
    expect(printed.stdout).toBe(`${text}  - { from: a, to: b, on: failure, priority: 1 }\n`);
    expect((await cli.daruma("edge", "add", file, ...edge, "--write")).stdout).toBe(`${file} is changed\n`);
    const { stdout } = await cli.daruma("validate", file, "--json");
    expect(JSON.parse(stdout).files[0].problems).toMatchObject([
      { code: "INVALID_VALUE", fix: { words: "Make it 2", line: 6, column: 46, end_column: 47, text: "2" } },
    ]);
    const mended = await cli.daruma(
      "edge",
      "change",
      file,
      "--transition",
      "2",
      "--priority",
      "2",
      "--write",
    );
    expect(mended.exitCode).toBe(0);
    expect((await cli.daruma("validate", file)).exitCode).toBe(0);
  });

  it("can be a depends_on, and is removed by its two steps", async () => {
    const text = "steps:\n  a: { exec: one }\n  b: { exec: two, depends_on: [a] }\n";
    const file = cli.write("depending.yaml", text);
    const edge = [file, "--kind", "depends_on", "--from", "a", "--to", "b"];
    await cli.daruma("edge", "remove", ...edge, "--write");
    expect((await cli.daruma("edge", "add", ...edge)).stdout).toBe(text);
  });
});
