import { spawn } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { commandLine } from "../support/cli.js";
import { CliFolder } from "../support/cli-folder.js";
import { makeRepository } from "../support/git-repository.js";

interface Advice {
  readonly kind: string;
  readonly text: string;
  readonly command: string | null;
  readonly argv: readonly (readonly string[])[];
}

const cli = new CliFolder();
/** A refusal of an operator's command, of a command line or of a file; a store that does not answer. */
const REFUSED = [2, 5];
const MANY_PROCESSES_MS = 240_000;

beforeAll(() => {
  const bin = join(cli.path, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "daruma"), `#!/bin/sh\nexec '${process.execPath}' '${commandLine}' "$@"\n`, {
    mode: 0o755,
  });
});

/** As somebody pastes it into a shell. */
async function paste(command: string): Promise<{ exitCode: number | null; text: string }> {
  const env = { ...process.env, PATH: `${join(cli.path, "bin")}:${process.env.PATH}`, NO_COLOR: "1" };
  const child = spawn("/bin/sh", ["-c", command], { cwd: cli.path, env, stdio: ["ignore", "pipe", "pipe"] });
  let text = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
    });
  return { exitCode: await new Promise((resolve) => child.on("close", resolve)), text };
}

async function adviceOn(run: number | string, ...more: string[]): Promise<Advice[]> {
  return (await cli.json<{ advice: Advice[] }>("explain", String(run), ...more)).value.advice;
}

/** Each command is typed over the same runs: what one changes is no excuse for the next. */
async function pasteEach(advised: readonly Advice[]): Promise<unknown[]> {
  const before = `${cli.outputDir}.before`;
  rmSync(before, { recursive: true, force: true });
  cpSync(cli.outputDir, before, { recursive: true });
  const refused: unknown[] = [];
  for (const { command } of advised) {
    if (command === null) continue;
    const { exitCode, text } = await paste(command);
    if (exitCode === null || REFUSED.includes(exitCode)) refused.push({ command, exitCode, text });
    rmSync(cli.outputDir, { recursive: true, force: true });
    cpSync(before, cli.outputDir, { recursive: true });
  }
  return refused;
}

const kindsOf = (advised: readonly Advice[]): string[] => [...new Set(advised.map(({ kind }) => kind))];

/** Each is run, and then everything that explain advises is typed. */
const BROKEN: readonly (readonly [name: string, kinds: readonly string[], text: string])[] = [
  [
    "a program that is not there",
    ["mend", "logs", "retry", "fork", "explain"],
    `steps: { a: { type: command, exec: [no-such-program-anywhere] }, b: { type: noop, depends_on: [a] } }`,
  ],
  [
    "an if that cannot be evaluated",
    ["mend", "fork", "explain"],
    `steps: { a: { type: script, content: "return {}" }, b: { type: noop, if: "outputs.a.version.major > 1", depends_on: [a] } }`,
  ],
  [
    "a repair that fails",
    ["mend", "logs", "retry", "fork", "explain"],
    `steps: { a: { type: command, exec: "exit 1", on_fail: { run: [fix] } }, fix: { type: command, exec: "exit 2" } }`,
  ],
  [
    "a loop that has no end",
    ["mend", "logs", "retry", "fork", "explain"],
    `routing: { max_loops: 2 }\nsteps: { a: { type: noop }, b: { type: command, exec: "exit 1", depends_on: [a], on_fail: { goto: a } }, c: { type: noop, depends_on: [b] } }`,
  ],
  [
    "one branch that fails",
    ["mend", "logs", "retry", "fork", "explain"],
    `steps: { list: { type: script, content: "return ['a b', 2]", forEach: true }, each: { type: command, exec: "test {{ foreach.index }} = 1", depends_on: [list] } }`,
  ],
  [
    "fail_fast, which cancels the others",
    ["mend", "logs", "retry", "fork", "explain"],
    `failure_policy: fail_fast\nsteps: { a: { type: command, exec: "exit 1" }, b: { type: command, exec: "sleep 30" }, c: { type: noop, depends_on: [b] } }`,
  ],
  [
    "a dead letter",
    ["mend", "logs", "redrive", "fork", "explain"],
    `queue: { max_attempts: 2, backoff: { mode: none }, classes: [transient_runtime] }\nsteps: { a: { type: command, exec: "sleep 9", timeout_ms: 50 } }`,
  ],
  [
    "a child run that fails",
    ["mend", "explain", "retry", "fork"],
    `steps: { a: { type: workflow, file: child.yaml } }`,
  ],
  [
    "several holds",
    ["resolve", "explain"],
    `unhandled: hold\nsteps: { a: { type: command, exec: "exit 3" }, b: { type: command, exec: "exit 4" } }`,
  ],
  [
    "a hold that no retry can mend",
    ["fork", "resolve", "explain"],
    `unhandled: hold\nsteps: { a: { type: command, exec: "echo {{ state._last_error.code }}" } }`,
  ],
];

describe("what explain advises", () => {
  beforeAll(() => {
    cli.write("child.yaml", `steps: { x: { type: command, exec: "exit 7" } }`);
  });

  it.each(BROKEN)(
    "after %s can be typed as it stands",
    async (name, kinds, text) => {
      const { report } = await cli.runJson(`name: ${name.replace(/\W+/g, "-")}\n${text}\n`);
      expect(["failed", "held"]).toContain(report.status);
      const advised = await adviceOn(report.run_id);
      expect(kindsOf(advised)).toEqual(kinds);
      expect(await pasteEach(advised)).toEqual([]);
    },
    MANY_PROCESSES_MS,
  );

  it("after a wrong template mends the run by a fork, once the file is mended", async () => {
    const file = (exec: string): string => `name: greeting
inputs: { who: { type: string } }
steps:
  name: { type: command, exec: "echo called >> ${join(cli.path, "calls")}; echo '{}'" }
  greet: { type: command, exec: "${exec}", depends_on: [name] }
`;
    const { report } = await cli.runJson(file("echo {{ outputs.name.first }}"), "--input", "who=Ada");
    expect(report.error?.code).toBe("TEMPLATE_ERROR");
    const advised = await adviceOn(report.run_id);
    expect(kindsOf(advised)).toEqual(["mend", "fork", "explain"]);
    const fork = advised.find(({ kind }) => kind === "fork")!.command!;
    expect(fork).toBe(
      `daruma fork ${report.run_id} --from greet --file ${join(cli.path, "flow.yaml")} --output-dir ${cli.outputDir}`,
    );
    cli.write("flow.yaml", file("echo hello {{ inputs.who }}"));
    const { exitCode, text } = await paste(fork);
    expect([exitCode, text]).toEqual([0, expect.stringContaining("hello Ada")]);
    expect(readFileSync(join(cli.path, "calls"), "utf8")).toBe("called\n");
  });

  it("after a command that failed mends the run by a retry, once the cause is fixed", async () => {
    const gate = join(cli.path, "gate");
    const { report } = await cli.runJson(
      `steps: { a: { type: command, exec: "test -e ${gate}" }, b: { type: noop, depends_on: [a] } }`,
    );
    writeFileSync(gate, "");
    const retry = (await adviceOn(report.run_id)).find(({ kind }) => kind === "retry")!.command!;
    expect(await paste(retry)).toMatchObject({ exitCode: 0 });
    expect(kindsOf(await adviceOn(report.run_id))).toEqual(["nothing"]);
  });

  it("after a failure in a workspace begins the fork where its files are made again", async () => {
    const repo = makeRepository(join(cli.path, "repo"), { f: "x" });
    const step = (exec: string, ...needs: string[]): object => ({ type: "command", exec, depends_on: needs });
    const steps = { a: step("echo a > a"), b: step("echo b > b", "a"), c: step("exit 3", "b") };
    const { report } = await cli.runJson(JSON.stringify({ name: "tree", workspace: { repo }, steps }));
    const advised = await adviceOn(report.run_id);
    expect(kindsOf(advised)).toEqual(["mend", "logs", "workspace", "retry", "hard_reset", "fork", "explain"]);
    expect(advised.find(({ kind }) => kind === "fork")!.argv[0]).toContain("a");
    expect(await pasteEach(advised)).toEqual([]);
  });

  it("while a question waits in a run that nobody runs answers it and goes on", async () => {
    const file = cli.write("ask.yaml", "steps: { ask: { type: human, prompt: 'Go on?' } }");
    const run = cli.start("run", file);
    const [, id] = await run.until(/run (\d+) of ask started[\s\S]*Go on/);
    expect(kindsOf(await adviceOn(id!))).toEqual(["answer", "wait"]);
    run.kill("SIGKILL");
    await run.ended;
    const [approve, reject, resume] = (await adviceOn(id!)).map(({ command }) => command!);
    expect([approve, reject, resume]).toEqual([
      expect.stringContaining("--choose approve"),
      expect.stringContaining("--choose reject"),
      expect.stringMatching(new RegExp(`^daruma resume ${id} `)),
    ]);
    expect(await paste(`${approve} && ${resume}`)).toMatchObject({ exitCode: 0 });
  });

  it("to apply a run whose process died in a step is to resume it first", async () => {
    const repo = makeRepository(join(cli.path, "left"), { f: "x" });
    const gate = join(cli.path, "left-gate");
    const exec = `echo b > f; while [ ! -e ${gate} ]; do sleep 0.05; done`;
    const file = cli.write("left.yaml", JSON.stringify({ workspace: { repo }, steps: { a: { exec } } }));
    const run = cli.start("run", file);
    const [, id] = await run.until(/run (\d+) of left started[\s\S]*a started/);
    expect((await cli.daruma("apply", id!)).stderr).toContain("hint: Wait until it ends;");
    run.kill("SIGKILL");
    await run.ended;
    expect((await cli.daruma("apply", id!)).stderr).toContain(
      `hint: No process is running this run. Let the step finish with \`daruma resume ${id}\`, then apply.`,
    );
    writeFileSync(gate, "");
    expect((await cli.daruma("resume", id!)).exitCode).toBe(0);
    expect((await cli.daruma("apply", id!)).stdout).toContain("+b");
  });

  it("after a rejection names its cause once, and how to ask again", async () => {
    const file = cli.write("reject.yaml", "steps: { ask: { type: human, prompt: 'Go on?' } }");
    const run = cli.start("run", file);
    const [, id] = await run.until(/run (\d+) of reject started[\s\S]*Go on/);
    await cli.daruma("answer", id!, "ask", "--choose", "reject");
    expect(await run.ended).toBe(1);
    const [mend, retry] = await adviceOn(id!);
    expect(mend).toMatchObject({ kind: "mend", text: "Find out why the person rejected it.", argv: [] });
    expect(retry!.kind).toBe("retry");
  });

  it("after a cancel goes on with the run, or starts it anew with the inputs it had", async () => {
    const gate = join(cli.path, "after-cancel");
    const file = cli.write(
      "inputs.yaml",
      `inputs: { who: { type: string }, list: { type: array } }
steps:
  wait: { type: command, exec: "while [ ! -e ${gate} ]; do sleep 0.05; done" }
  tell: { type: command, exec: "echo {{ inputs.who | sh }} {{ inputs.list[0] | sh }}", depends_on: [wait] }`,
    );
    const run = cli.start("run", file, "--input", "who=it's", "--input", 'list=["x y"]');
    const [, id] = await run.until(/run (\d+) of inputs started[\s\S]*wait started/);
    expect((await cli.daruma("cancel", id!)).exitCode).toBe(0);
    expect(await run.ended).toBe(4);
    writeFileSync(gate, "");
    const [retry, anew] = await adviceOn(id!);
    for (const { command } of [retry!, anew!]) {
      const { exitCode, text } = await paste(command!);
      expect([exitCode, text]).toEqual([0, expect.stringContaining("tell printed:\nit's x y\n")]);
    }
    expect([retry!.kind, anew!.kind]).toEqual(["retry", "run"]);
  });
});
