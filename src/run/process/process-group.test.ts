import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  childrenOf,
  isAlive,
  PATH,
  PROCESS_HOSTS,
  ProcessTrial,
} from "../../../test/support/process-trial.js";
import { endProcessesWithToken } from "./attempt-processes.js";

describe.each(PROCESS_HOSTS)("a process group: %s", (_name, createHost) => {
  const trial = new ProcessTrial(createHost);
  const { folder, run, start } = trial;

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
      // A SIGTERM that is lost would leave it running for the whole grace.
      await running.terminate(1_000_000);
      expect((await finished).exitCode).toBeNull();
      await running.terminate(1_000_000);
    });

    it("does not disturb the neighbours", async () => {
      const first = start("echo ready; sleep 1000");
      const second = start("echo ready; cat; exit 7", { stdin: "" });
      const third = start("echo ready; sleep 1000");
      await Promise.all([first, second, third].map((started) => started.printed("ready")));
      await first.running.terminate(0);
      expect(await second.finished).toMatchObject({ exitCode: 7 });
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
    await trial.host.close();
    expect(await running.exited).toMatchObject({ exitCode: null, signal: "SIGKILL" });
    expect(childrenOf(process.pid)).toEqual(before);
  });
});
