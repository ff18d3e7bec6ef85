import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { childrenOf, isAlive, PATH } from "../../../test/support/process-trial.js";
import { LauncherHost } from "./launcher-host.js";
import type { RunningProcess } from "./process-host.js";
import { SpawnHost } from "./spawn-host.js";

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

  it("replace a waiting shell that was killed", async () => {
    const host = new LauncherHost("perl", new SpawnHost());
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
