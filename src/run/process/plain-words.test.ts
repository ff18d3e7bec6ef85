import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { PATH, PROCESS_HOSTS, ProcessTrial } from "../../../test/support/process-trial.js";
import { plainWordsOf, startCommand } from "./plain-words.js";
import type { ProcessHost, ProcessSpec } from "./process-host.js";

describe("a line of plain words", () => {
  it.each([
    ["npm test", ["npm", "test"]],
    ["  make\t-j8  all \n", ["make", "-j8", "all"]],
    ["./fix.sh", ["./fix.sh"]],
    ["env A=b --c=/x.y:1,2@3%4+5", ["env", "A=b", "--c=/x.y:1,2@3%4+5"]],
    ["7z x a.7z", ["7z", "x", "a.7z"]],
  ])("needs no shell: %j", (line, words) => {
    expect(plainWordsOf(line, {})).toEqual(words);
  });

  it.each([
    ...["", " ", "\n", "npm test && echo ok", "npm test; ls", "a | b", "a > b", "a < b", "a &", "a\nb"],
    ..."$HOME/x|a $B|a `b`|a 'b'|a \"b\"|a \\ b|a *|a ?|a [b]|a {b,c}|~/x|a ~|a # b|! a|( a )|a !b|a ^b".split(
      "|",
    ),
    ...[
      "A=b make",
      "cd /tmp",
      "echo a",
      "exec make",
      "if a",
      "time make",
      "test -f x",
      "kill 1",
      ". ./x",
      "-x",
    ],
    ...["a\u00a0b", "ünï", "a\0b", "a\rb", "a\fb"],
  ])("is not what a shell must read: %j", (line) => {
    expect(plainWordsOf(line, {})).toBeNull();
  });

  it.each(["BASH_FUNC_make%%", "SHELLOPTS", "POSIXLY_CORRECT"])(
    "goes to the shell where %s may change what it means",
    (name) => {
      expect(plainWordsOf("make all", { [name]: "x" })).toBeNull();
      expect(plainWordsOf("make all", { OTHER: "x" })).toEqual(["make", "all"]);
    },
  );

  it("of any length is read in one go", () => {
    expect(plainWordsOf(`a ${"b ".repeat(4_000)}`, {})).toHaveLength(4_001);
    expect(plainWordsOf(`a ${"b ".repeat(1_000_000)}`, {})).toBeNull();
    expect(plainWordsOf(`${"a".repeat(9_000)} (`, {})).toBeNull();
  });
});

it("a shell of the file's own gets every line; ours get none that needs no shell", () => {
  const started = (shell: ProcessSpec["shell"]): unknown => {
    let given: unknown;
    const host: Pick<ProcessHost, "start"> = {
      start: (spec) => {
        given = spec.exec;
        return { exited: new Promise(() => {}), terminate: async () => {} };
      },
    };
    startCommand(host as ProcessHost, {
      ...{ exec: "npm test", env: {}, cwd: "/", onStdout: () => {}, onStderr: () => {} },
      ...(shell === undefined ? {} : { shell }),
    });
    return given;
  };
  for (const shell of ["sh", "bash", "plain_bash", undefined] as const)
    expect(started(shell)).toEqual(["npm", "test"]);
  expect(started(["bash", "-lc"])).toBe("npm test");
});

describe.each(PROCESS_HOSTS)("a command: %s", (_name, createHost) => {
  const trial = new ProcessTrial(() => throughCommands(createHost()));
  const { folder, run, start } = trial;
  const script = (name: string, text: string, mode = 0o755): string => {
    writeFileSync(join(folder, name), text, { mode });
    return `./${name}`;
  };

  it.each<[string, () => string, Partial<ProcessSpec>]>([
    ["a program with arguments", () => "env printf a-%s-b 1", {}],
    ["a program that is not there", () => "no-such-program-here x", {}],
    ["a path that is not there", () => "./no-such-file", {}],
    ["a file that may not be executed", () => script("plain-file", "hello", 0o644), {}],
    ["a folder", () => "./", {}],
    ["a script that names no interpreter", () => `${script("bare", 'echo "$0 $1"; exit 3\n')} x`, {}],
    ["a script whose interpreter is missing", () => script("lost", "#!/no/such/interpreter\n"), {}],
    ["no PATH at all", () => "ls /dev/null", { env: {} }],
    ["a PATH without the program", () => "ls /dev/null", { env: { PATH: "/nowhere" } }],
    ["input", () => "cat", { stdin: "in\n" }],
  ])("ends as the same line in a shell does: %s", async (_case, lineOf, more) => {
    const line = lineOf();
    const [plain, viaShell] = [await run(line, more), await run(`${line} #`, more)];
    const { usage: _, ...seen } = plain;
    const { usage: __, ...expected } = viaShell;
    expect(seen).toEqual(expected);
    expect(plain.exitCode).not.toBeNull();
  });

  it("names the working folder that does not exist", async () => {
    const exit = await run("ls -l", { cwd: join(folder, "missing") });
    expect(exit.spawnError?.message).toContain(`working folder ${join(folder, "missing")}`);
  });

  it("is the program itself, at the head of its group", async () => {
    const { stdout } = await run(script("leader", '#!/bin/sh\nps -o pid=,pgid= -p "$$"\n'));
    const [pid, group] = stdout.trim().split(/\s+/);
    expect(group).toBe(pid);
  });

  it("tells the signal that ended the program, not an exit code in its place", async () => {
    expect(await run(script("dies", "#!/bin/sh\nkill -9 $$\n"))).toMatchObject({
      exitCode: null,
      signal: "SIGKILL",
      stderr: "",
    });
  });

  it("can be ended with all that it started", async () => {
    const { running, finished, printed } = start(
      script("stays", "#!/bin/sh\nsleep 1000 &\necho ready\nwait\n"),
    );
    await printed("ready");
    await running.terminate(2_000);
    expect(await finished).toMatchObject({ exitCode: null, signal: "SIGTERM" });
  });

  it("that cannot be started and is ended meanwhile gets no shell", async () => {
    const { running, finished } = start("no-such-program-here");
    await running.terminate(0);
    expect(await finished).toMatchObject({ stdout: "", stderr: "", exitCode: null });
  });

  it("finds relative programs and arguments in its folder", async () => {
    mkdirSync(join(folder, "sub"), { recursive: true });
    script("sub/tool", "#!/bin/sh\necho in sub\n");
    expect(await run("./tool", { cwd: join(folder, "sub"), env: { PATH } })).toMatchObject({
      stdout: "in sub\n",
      exitCode: 0,
    });
  });
});

/** A host that starts whatever it is given as the steps' commands are started. */
function throughCommands(host: ProcessHost): ProcessHost {
  return { stops: host.stops, start: (spec) => startCommand(host, spec), close: () => host.close() };
}
