import { randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { PATH, PROCESS_HOSTS, ProcessTrial } from "../../../test/support/process-trial.js";
import type { ProcessSpec } from "./process-host.js";

describe.each(PROCESS_HOSTS)("a process: %s", (_name, createHost) => {
  const trial = new ProcessTrial(createHost);
  const { folder, run, start } = trial;

  describe("how a process ended", () => {
    it.each([
      ["true", 0],
      ["exit 3", 3],
      ["exit 137", 137],
      ["exit 143", 143],
      ["exit 127", 127],
      ["no-such-program-here", 127],
      ["sh -c 'kill -9 $$'; exit $?", 137],
    ])("tells the exit code of %s", async (exec, exitCode) => {
      expect(await run(exec)).toMatchObject({ exitCode, signal: null });
    });

    it.each(["SIGKILL", "SIGTERM", "SIGINT", "SIGABRT"])("tells %s from an exit code", async (signal) => {
      expect(await run(`kill -${signal.slice(3)} $$`)).toMatchObject({ exitCode: null, signal });
      expect(await run("exit 0"), "the host works on").toMatchObject({ exitCode: 0 });
    });

    it("gives the step a shell of its own that leads its group", async () => {
      const { stdout } = await run('echo $$; ps -o pid=,pgid= -p "$$"');
      const [pid, seenPid, group] = stdout.trim().split(/\s+/);
      expect([seenPid, group]).toEqual([pid, pid]);
    });

    it.each([
      ["true && exit 3", 3, ""],
      ["false || echo 'a  b' \"c d\"; exit 200", 200, "a  b c d\n"],
      ["exit 0; echo never", 0, ""],
      ["echo; false", 1, "\n"],
      ["false; :", 0, ""],
    ])("runs a line of built-ins as any other: %s", async (exec, exitCode, stdout) => {
      const finished = await Promise.all(Array.from({ length: 12 }, () => run(exec)));
      for (const one of finished) expect(one).toEqual({ exitCode, signal: null, stdout, stderr: "" });
    });

    it.each([
      ["echo one; false; echo two", "sh", 1, "one\n"],
      ["false && true; echo two", "sh", 0, "two\n"],
      ["false || true; echo two", "bash", 0, "two\n"],
      ["echo one; false; echo two", "bash", 1, "one\n"],
      ["echo one; false; echo two", "plain_sh", 0, "one\ntwo\n"],
      ["echo one; (exit 7) | cat; echo two", "sh", 0, "one\ntwo\n"],
      ["echo one; (exit 7) | cat; echo two", "bash", 7, "one\n"],
      ["set +e; false; echo two", "bash", 0, "two\n"],
      ["-c; echo two", "sh", 127, ""],
      ["a", ["/bin/sh", "-c", 'echo "$0 $1 $2"', "x"], 0, "x a \n"],
    ] as const)("%j under %j ends with %s", async (exec, shell, exitCode, stdout) => {
      expect(await run(exec, { shell })).toMatchObject({ exitCode, signal: null, stdout });
    });

    it("a shell that is not there is named", async () => {
      const { spawnError } = await run("echo a; b", { shell: "bash", env: { PATH: folder } });
      expect(spawnError).toMatchObject({ code: "ENOENT" });
      expect(spawnError!.message).toContain("command bash");
    });

    it("runs a line of built-ins in its folder, which must exist", async () => {
      const quoted = join(folder, "it's $HOME");
      mkdirSync(quoted, { recursive: true });
      expect(await run("echo in", { cwd: quoted })).toMatchObject({ exitCode: 0, stdout: "in\n" });
      expect((await run("echo in", { cwd: join(quoted, "missing") })).spawnError).toMatchObject({
        code: "ENOENT",
      });
      expect(await run("echo in", { cwd: quoted })).toMatchObject({
        exitCode: 0,
        stdout: "in\n",
        stderr: "",
      });
    });

    it("can end a line of built-ins at any moment and go on", async () => {
      for (let round = 0; round < 20; round++) {
        const { running, finished } = start("echo x; exit 3");
        await running.terminate(round % 2);
        const { exitCode, signal } = await finished;
        expect(exitCode === 3 || signal !== null).toBe(true);
        expect(await run("echo y; exit 4")).toEqual({ exitCode: 4, signal: null, stdout: "y\n", stderr: "" });
      }
    });

    it("keeps a command line that begins with a dash away from the shell's options", async () => {
      expect(await run("-x")).toMatchObject({ exitCode: 127 });
    });
  });

  describe("what cannot be started", () => {
    it("names the working folder that does not exist", async () => {
      const exit = await run("true", { cwd: join(folder, "missing") });
      expect(exit).toMatchObject({ exitCode: null, signal: null, spawnError: { code: "ENOENT" } });
      expect(exit.spawnError!.message).toContain(`working folder ${join(folder, "missing")}`);
    });

    it("names a working folder that is a file", async () => {
      writeFileSync(join(folder, "file"), "");
      const exit = await run(["true"], { cwd: join(folder, "file") });
      expect(exit.spawnError).toMatchObject({
        code: "ENOTDIR",
        message: expect.stringContaining("working folder"),
      });
    });

    it("names the program of a list that does not exist", async () => {
      const exit = await run(["no-such-program-here", "x"]);
      expect(exit.spawnError).toMatchObject({
        code: "ENOENT",
        message: expect.stringContaining("command no-such-program-here"),
      });
    });

    it("tells a file that may not be executed and arguments that are too long", async () => {
      const plain = join(folder, "plain-file");
      writeFileSync(plain, "hello");
      chmodSync(plain, 0o644);
      expect((await run([plain])).spawnError).toMatchObject({ code: "EACCES" });
      expect((await run(["true", "x".repeat(4_000_000)])).spawnError).toMatchObject({ code: "E2BIG" });
      expect(await run("exit 4"), "the host works on").toMatchObject({ exitCode: 4 });
    });

    it.each<[string, ProcessSpec["exec"], Partial<ProcessSpec>]>([
      ["an empty list", [], {}],
      ["an empty name", [""], {}],
      ["NUL in an argument", ["echo", "a\0b"], {}],
      ["NUL in a value", "true", { env: { PATH, A: "a\0b" } }],
      ["NUL in the folder", "true", { cwd: "/tmp\0/x" }],
      ["= in a name", "true", { env: { PATH, "a=b": "c" } }],
    ])("refuses %s", async (_case, exec, more) => {
      expect((await run(exec, more)).spawnError).toMatchObject({ code: "EINVAL" });
    });
  });

  describe("what a process is given", () => {
    it("hands a list over with no interpretation", async () => {
      const words = [
        "",
        "a b",
        "-n",
        "--",
        "$HOME",
        "`id`",
        "it's",
        '"q"',
        "line\nline",
        "*",
        "\\",
        "ünï ☂",
        "a;b",
        "|",
        "",
      ];
      const print = 'for word in "$@"; do printf "<%s>\\n" "$word"; done';
      const { stdout } = await run(["sh", "-c", print, "sh", ...words]);
      expect(stdout).toBe(words.map((word) => `<${word}>\n`).join(""));
    });

    it("gives exactly the environment asked for, whatever is in it", async () => {
      const env = {
        PATH,
        EMPTY: "",
        LINES: "one\ntwo\n",
        QUOTES: `'"\`$HOME\\`,
        EQUALS: "a=b=c",
        UNICODE: "ünï ☂ 達磨",
        "a.b": "dotted",
        "with space": "x",
        "1st": "digit",
        LONG: "x".repeat(100_000),
      };
      const environmentOf = async (given: ProcessSpec["env"]): Promise<object> => {
        const { stdout } = await run(["env", "-0"], { env: given });
        return Object.fromEntries(
          stdout
            .split("\0")
            .flatMap((entry) => (entry === "" ? [] : [/^([^=]*)=(.*)$/s.exec(entry)!.slice(1)])),
        );
      };
      expect(await environmentOf({ PATH, BEFORE: "1" })).toEqual({ PATH, BEFORE: "1" });
      expect(await environmentOf(env)).toEqual(env);
      expect(await environmentOf({ PATH, BEFORE: "2" })).toEqual({ PATH, BEFORE: "2" });
      expect(await environmentOf({ PATH })).toEqual({ PATH });
      expect((await run("echo $LINES", { env })).stdout).toBe("one two\n");
    });

    it("finds programs on the PATH of the process, not on its own", async () => {
      writeFileSync(join(folder, "only-here"), "#!/bin/sh\necho found\n", { mode: 0o755 });
      expect(await run(["only-here"], { env: { PATH: folder } })).toMatchObject({
        stdout: "found\n",
        exitCode: 0,
      });
    });

    it("runs in the working folder", async () => {
      expect((await run(["pwd"])).stdout).toBe(`${folder}\n`);
    });

    it("gives an empty stdin when none is asked for", async () => {
      expect(await run("cat; echo end")).toMatchObject({ stdout: "end\n", exitCode: 0 });
    });

    it("hands over stdin of any size", async () => {
      const text = `a\0b ünï\n${"0123456789abcdef".repeat(60_000)}end`;
      expect((await run("cat", { stdin: "" })).stdout).toBe("");
      expect((await run(["cat"], { stdin: text })).stdout === text).toBe(true);
    });

    it("does not mind a process that leaves its stdin unread", async () => {
      expect(await run("exec <&-; exit 6", { stdin: "x".repeat(1_000_000) })).toMatchObject({ exitCode: 6 });
      expect(await run("head -c 1", { stdin: "y".repeat(1_000_000) })).toMatchObject({
        stdout: "y",
        exitCode: 0,
      });
    });

    it("leaves no signal ignored", async () => {
      const { stdout } = await run("yes | head -n 1; grep SigIgn /proc/self/status || echo SigIgn: 0");
      expect(stdout).toMatch(/^y\nSigIgn:\s+0+\n$/);
    });

    it("is away from the terminal, in another session", async () => {
      const { stdout } = await run(`ps -o sid= -p $$; ps -o sid= -p ${process.pid}`);
      const [session, ours] = stdout.trim().split(/\s+/);
      expect(session).not.toBe(ours);
    });
  });

  describe("output", () => {
    it("keeps stdout and stderr apart and needs no final newline", async () => {
      expect(await run("printf out; printf err >&2")).toMatchObject({ stdout: "out", stderr: "err" });
    });

    it("hands over bytes as they are, also those that look like messages of the host", async () => {
      const frame = Buffer.from(
        "X\0\0\0\x01\0\0\0\x04\0\0\0\0H\0\0\0\0\0\0\0\0F\0\0\0\x01\0\0\0\x05\0\0\0\x02\x02",
        "latin1",
      );
      const bytes = Buffer.concat([frame, randomBytes(300_000), frame]);
      writeFileSync(join(folder, "bytes"), bytes);
      const chunks: Buffer[] = [];
      await run("cat bytes; cat bytes >&2", { onStdout: (chunk) => chunks.push(Buffer.from(chunk)) });
      expect(Buffer.concat(chunks).equals(bytes)).toBe(true);
    });

    it("streams 200 MB without gathering it", async () => {
      const before = process.memoryUsage().rss;
      let bytes = 0;
      let mostMemory = 0;
      await run("head -c 209715200 /dev/zero", {
        onStdout: (chunk) => {
          bytes += chunk.length;
          mostMemory = Math.max(mostMemory, process.memoryUsage.rss());
        },
      });
      expect(bytes).toBe(209_715_200);
      expect(mostMemory - before).toBeLessThan(120_000_000);
    });

    it("has handed all of it over before it reports the end", async () => {
      const finished = await Promise.all(
        Array.from({ length: 24 }, (_, index) =>
          run(`head -c 70000 /dev/zero | tr '\\0' ${index % 10}; echo end-${index}`),
        ),
      );
      finished.forEach(({ stdout }, index) => {
        expect(stdout === `${String(index % 10).repeat(70_000)}end-${index}\n`, `job ${index}`).toBe(true);
      });
    });

    it("still comes from a helper that outlives the main process by a moment", async () => {
      const { stdout } = await run(
        "(while kill -0 $$ 2>/dev/null; do :; done; echo late) & echo early; exit 0",
      );
      expect(stdout).toBe("early\nlate\n");
    });
  });
});
