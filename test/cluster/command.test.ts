import { describe, expect, it } from "vitest";
import { commandEnvironment, failureWords, runCommand } from "../../src/fleet/allocations/command.js";

const NEVER = new AbortController().signal;
const env = { PATH: process.env.PATH };

describe("a command of a batch system", () => {
  it("is given its input and answers with all it printed", async () => {
    const answer = await runCommand(["sh", "-c", "cat; echo wrong >&2; exit 3"], {
      signal: NEVER,
      env,
      input: "in",
    });
    expect(answer).toEqual({ exitCode: 3, stdout: "in", stderr: "wrong\n", failure: null });
    expect(failureWords(["sbatch"], answer)).toBe("sbatch failed with exit code 3: wrong");
  });

  it("is given up when it hangs, even if something that it started holds its output", async () => {
    const argv = ["sh", "-c", "echo half; sleep 60 & exec sleep 60"];
    const answer = await runCommand(argv, { signal: NEVER, env, timeoutMs: 200 });
    expect(answer).toMatchObject({ exitCode: null, failure: "timeout" });
  });

  it("ends when nobody waits for it any more", async () => {
    const stop = new AbortController();
    const answer = runCommand(["sleep", "60"], { signal: stop.signal, env });
    stop.abort();
    expect(await answer).toMatchObject({ failure: "canceled" });
    expect(await runCommand(["sleep", "60"], { signal: stop.signal, env })).toMatchObject({
      failure: "canceled",
    });
  });

  it("that prints without end is stopped", async () => {
    expect(await runCommand(["yes"], { signal: NEVER, env })).toMatchObject({
      exitCode: null,
      failure: "too_much",
    });
  });

  it("that is not installed is told from one that fails", async () => {
    const answer = await runCommand(["daruma-no-such-command"], { signal: NEVER, env });
    expect(answer).toMatchObject({ exitCode: null, failure: "missing" });
    expect(failureWords(["sbatch"], answer)).toContain("is it installed");
  });

  it("sees no variable that changes it, and nothing of Daruma's", () => {
    const base = {
      PATH: "/bin",
      SBATCH_PARTITION: "x",
      SLURM_JOB_ID: "1",
      SLURM_CONF: "/etc/x",
      DARUMA_TOKEN: "t",
      SGE_ROOT: "/sge",
    };
    expect(commandEnvironment(base, new Set(["SLURM_CONF"]))).toEqual({
      PATH: "/bin",
      SLURM_CONF: "/etc/x",
      SGE_ROOT: "/sge",
      LC_ALL: "C",
    });
  });
});
