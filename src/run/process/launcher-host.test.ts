import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { childrenOf, isAlive, LAUNCHERS, PATH } from "../../../test/support/process-trial.js";
import { JOBS_AT_ONCE, LauncherHost } from "./launcher-host.js";
import type { RunningProcess } from "./process-host.js";

describe.each(LAUNCHERS)("%s", (_name, program) => {
  it("let a step open its own output by name, which Node's sockets do not", async () => {
    const host = new LauncherHost(program);
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
    const host = new LauncherHost(program);
    const before = childrenOf(process.pid).length;
    const spec = { env: { PATH }, cwd: "/", onStdout: () => {}, onStderr: () => {} };
    expect(childrenOf(process.pid).length - before).toBe(0);
    for (let round = 0; round < 3; round++) {
      const jobs = 2 * JOBS_AT_ONCE + 4;
      await Promise.all(Array.from({ length: jobs }, () => host.start({ ...spec, exec: "true" }).exited));
      expect(childrenOf(process.pid).length - before).toBe(3);
    }
    await host.close();
  });

  it("replace a waiting shell that was killed", async () => {
    const host = new LauncherHost(program);
    const before = new Set(childrenOf(process.pid));
    const spec = { env: { PATH }, cwd: "/", exec: "exit 5", onStdout: () => {}, onStderr: () => {} };
    expect(await host.start(spec).exited).toMatchObject({ exitCode: 5 });
    const [launcher] = childrenOf(process.pid).filter((child) => !before.has(child));
    const [shell] = childrenOf(launcher!);
    process.kill(shell!, "SIGKILL");
    while (childrenOf(launcher!).includes(shell!)) await new Promise((resolve) => setTimeout(resolve, 2));
    expect(await host.start(spec).exited).toMatchObject({ exitCode: 5 });
    expect(childrenOf(launcher!)).not.toContain(shell);
    await host.close();
  });

  it.each(["SIGTERM", "SIGINT", "SIGHUP"])(
    "outlive a %s, tell of it, and know which exit came before",
    async (signal) => {
      const host = new LauncherHost(program);
      const before = new Set(childrenOf(process.pid));
      const spec = { env: { PATH }, cwd: "/", onStderr: () => {} };
      const first = await host.start({ ...spec, exec: "(exit 0)", onStdout: () => {} }).exited;
      const running = await new Promise<RunningProcess>((resolve) => {
        const started: RunningProcess = host.start({
          ...spec,
          exec: "trap 'exit 0' TERM; echo on; while :; do sleep 0.02; done",
          onStdout: () => resolve(started),
        });
      });
      expect(host.stops!.firstSince(0)).toBe(null);
      const [launcher] = childrenOf(process.pid).filter((child) => !before.has(child));
      const told = new Promise<void>((resolve) => host.stops!.onCame(resolve));
      process.kill(launcher!, signal);
      await told;
      await running.terminate(10_000);
      const last = await running.exited;
      expect([first.exitCode, last.exitCode]).toEqual([0, 0]);
      expect(first.collectedAt).toBeLessThan(host.stops!.firstSince(0)!);
      expect(last.collectedAt).toBeGreaterThan(host.stops!.firstSince(0)!);
      await host.close();
    },
  );

  it("that are killed take their jobs with them and are replaced", async () => {
    const host = new LauncherHost(program);
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
    expect(await running.exited).toMatchObject({ exitCode: null, signal: "SIGKILL" });
    expect(isAlive(pid)).toBe(false);
    expect(await host.start({ ...spec, exec: "exit 3", onStdout: () => {} }).exited).toMatchObject({
      exitCode: 3,
    });
    await host.close();
  });
});

it("a launcher that cannot run leaves its jobs to Node", async () => {
  const host = new LauncherHost("/bin/false");
  let stdout = "";
  const onStdout = (chunk: Buffer) => (stdout += chunk);
  const spec = { env: { PATH }, cwd: "/", exec: "echo $PPID", onStdout, onStderr: () => {} };
  expect(await host.start(spec).exited).toMatchObject({ exitCode: 0 });
  expect(Number(stdout)).toBe(process.pid);
  await host.close();
});
