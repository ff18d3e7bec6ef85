import { randomBytes, randomUUID } from "node:crypto";
import { chmodSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { endProcessesWithToken } from "./attempt-processes.js";
import { LauncherHost } from "./launcher-host.js";
import type { ProcessExit, ProcessHost, ProcessSpec, RunningProcess } from "./process-host.js";
import { SpawnHost } from "./spawn-host.js";

const PATH = process.env.PATH!;

const HOSTS: [string, () => ProcessHost][] = [
  ["launchers", () => new LauncherHost("perl", new SpawnHost())],
  ["plain spawn", () => new SpawnHost()],
  [
    "plain spawn, after the launcher turned out not to run",
    () => new LauncherHost("/bin/false", new SpawnHost()),
  ],
];

interface Finished extends ProcessExit {
  readonly stdout: string;
  readonly stderr: string;
}

interface Started {
  readonly running: RunningProcess;
  readonly finished: Promise<Finished>;
  /** Resolves when stdout contains the text. */
  printed(text: string): Promise<void>;
}

describe.each(HOSTS)("a process host: %s", (_name, createHost) => {
  let host: ProcessHost;
  let folder: string;

  beforeAll(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), "daruma-host-")));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  beforeEach(() => {
    host = createHost();
  });
  afterEach(() => host.close());

  function start(exec: ProcessSpec["exec"], more: Partial<ProcessSpec> = {}): Started {
    let stdout = "";
    let stderr = "";
    let wake = (): void => {};
    const running = host.start({
      exec,
      env: { PATH },
      cwd: folder,
      onStdout: (chunk) => {
        stdout += chunk.toString();
        wake();
      },
      onStderr: (chunk) => {
        stderr += chunk.toString();
      },
      ...more,
    });
    return {
      running,
      finished: running.exited.then((exit) => ({ ...exit, stdout, stderr })),
      printed: (text) =>
        new Promise((resolve) => {
          wake = () => stdout.includes(text) && resolve();
          wake();
        }),
    };
  }

  const run = (exec: ProcessSpec["exec"], more: Partial<ProcessSpec> = {}): Promise<Finished> =>
    start(exec, more).finished;

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

  describe("the end of a group", () => {
    it("lets a process end by itself on SIGTERM", async () => {
      const { running, finished, printed } = start(
        "trap 'echo bye; exit 5' TERM; echo ready; while :; do sleep 0.01; done",
      );
      await printed("ready");
      await running.terminate(30_000);
      expect(await finished).toMatchObject({ exitCode: 5, signal: null, stdout: "ready\nbye\n" });
    });

    it("sends SIGTERM to grandchildren too", async () => {
      const { running, finished, printed } = start("sh -c 'sh -c \"echo ready; sleep 1000; :\"; :'; :");
      await printed("ready");
      await running.terminate(30_000);
      expect(await finished).toMatchObject({ signal: "SIGTERM" });
    });

    it("kills after the grace what ignores SIGTERM, grandchildren too", async () => {
      const grandchild = "trap '' TERM; echo ready $$; while :; do sleep 1000; done";
      const { running, finished, printed } = start(
        `trap '' TERM; sh -c "${grandchild.replaceAll("$", "\\$")}" & wait; wait`,
      );
      await printed("ready");
      await running.terminate(20);
      const { signal, stdout } = await finished;
      expect(signal).toBe("SIGKILL");
      expect(isAlive(Number(/ready (\d+)/.exec(stdout)![1]))).toBe(false);
    });

    it("kills at once when a second call leaves no grace", async () => {
      const { running, finished, printed } = start("trap '' TERM; echo ready; while :; do sleep 1000; done");
      await printed("ready");
      const first = running.terminate(1_000_000);
      await running.terminate(0);
      await first;
      expect(await finished).toMatchObject({ signal: "SIGKILL" });
    });

    it("can be asked for before the process has really begun, and after it has ended", async () => {
      const { running, finished } = start("sleep 1000; sleep 1000");
      await running.terminate(30_000);
      expect((await finished).exitCode).toBeNull();
      await running.terminate(30_000);
    });

    it("does not disturb the neighbours", async () => {
      const first = start("echo ready; sleep 1000");
      const second = start("echo ready; cat; exit 7", { stdin: "" });
      const third = start("echo ready; sleep 1000");
      await Promise.all([first, second, third].map((started) => started.printed("ready")));
      await first.running.terminate(0);
      expect(await second.finished).toMatchObject({ exitCode: 7 });
      expect(isAlive(0)).toBe(true);
      await third.running.terminate(0);
    });

    it.each([
      "sleep 1000 & echo $!",
      "sh -c 'trap \"\" TERM; echo $$ | tee pid; sleep 1000; sleep 1000' & while ! [ -s pid ]; do sleep 0.01; done",
    ])("comes with the end of the main process: %s", async (exec) => {
      rmSync(join(folder, "pid"), { force: true });
      const { exitCode, stdout } = await run(exec);
      expect(exitCode).toBe(0);
      expect(Number(stdout)).toBeGreaterThan(1);
      expect(isAlive(Number(stdout))).toBe(false);
    });

    it("is not held up by a process that has left the group, which cannot write into the next output", async () => {
      const token = randomUUID();
      const env = { PATH, DARUMA_ATTEMPT_TOKEN: token };
      const intruder =
        "trap '' PIPE HUP TERM; echo ready; while :; do echo intruder 2>/dev/null; sleep 0.001; done";
      try {
        const { exitCode } = await run(`setsid sh -c "${intruder}" & sleep 0.05; exit 0`, { env });
        expect(exitCode).toBe(0);
        for (let round = 0; round < 5; round++) {
          expect(await run("sleep 0.01; echo mine")).toMatchObject({ stdout: "mine\n", stderr: "" });
        }
      } finally {
        expect(await endProcessesWithToken(token)).toBeGreaterThan(0);
      }
    });
  });

  it("leaves no process behind when it is closed", async () => {
    const before = childrenOf(process.pid);
    const { running, printed } = start(
      "trap '' TERM; echo $$ ready; (trap '' TERM; sleep 1000; sleep 1000) & sleep 1000; sleep 1000",
    );
    await printed("ready");
    expect(childrenOf(process.pid).length).toBeGreaterThan(before.length);
    await host.close();
    expect(await running.exited).toMatchObject({ exitCode: null, signal: "SIGKILL" });
    expect(childrenOf(process.pid)).toEqual(before);
  });
});

describe("launchers", () => {
  it("let a step open its own output by name, which Node's sockets do not", async () => {
    const host = new LauncherHost("perl", new SpawnHost());
    let stderr = "";
    const spec = {
      env: { PATH },
      cwd: "/",
      onStdout: () => {},
      onStderr: (chunk: Buffer) => (stderr += chunk),
    };
    const exit = await host.start({ ...spec, exec: "echo named > /dev/stderr" }).exited;
    expect([exit.exitCode, stderr]).toEqual([0, "named\n"]);
    await host.close();
  });

  it("grow with the number of jobs and are used again", async () => {
    const host = new LauncherHost("perl", new SpawnHost());
    const before = childrenOf(process.pid).length;
    const spec = { env: { PATH }, cwd: "/", onStdout: () => {}, onStderr: () => {} };
    expect(childrenOf(process.pid).length - before).toBe(0);
    for (let round = 0; round < 3; round++) {
      await Promise.all(Array.from({ length: 20 }, () => host.start({ ...spec, exec: "true" }).exited));
      expect(childrenOf(process.pid).length - before).toBe(3);
    }
    await host.close();
  });

  it("that are killed take their jobs with them and are replaced", async () => {
    const host = new LauncherHost("perl", new SpawnHost());
    const before = new Set(childrenOf(process.pid));
    const token = randomUUID();
    let pid = 0;
    const spec = { env: { PATH, DARUMA_ATTEMPT_TOKEN: token }, cwd: "/", onStderr: () => {} };
    const running = await new Promise<RunningProcess>((resolve) => {
      const started: RunningProcess = host.start({
        ...spec,
        exec: "echo $$; sleep 1000; sleep 1000",
        onStdout: (chunk) => {
          pid = Number(chunk.toString());
          resolve(started);
        },
      });
    });
    const [launcher] = childrenOf(process.pid).filter((child) => !before.has(child));
    process.kill(launcher!, "SIGKILL");
    expect(await running.exited).toEqual({ exitCode: null, signal: "SIGKILL" });
    expect(isAlive(pid)).toBe(false);
    expect(await host.start({ ...spec, exec: "exit 3", onStdout: () => {} }).exited).toMatchObject({
      exitCode: 3,
    });
    await host.close();
  });
});

/** A process that has died but has not been reaped yet counts as gone. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  return pid === 0 || !/\) [ZX] /.test(readStat(pid));
}

function readStat(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, "latin1");
  } catch {
    return ") X ";
  }
}

function childrenOf(pid: number): number[] {
  const listed = readFileSync(`/proc/${pid}/task/${pid}/children`, "latin1").trim();
  return listed === "" ? [] : listed.split(" ").map(Number);
}
