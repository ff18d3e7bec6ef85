import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { endProcessesWithToken } from "./attempt-processes.js";

const READY = "echo ready; while :; do sleep 1000; done";

async function startWithToken(token: string, script: string, lines = 1) {
  const env = { PATH: process.env.PATH!, DARUMA_ATTEMPT_TOKEN: token, LAST: "x" };
  const child = spawn("sh", ["-c", script], { env, detached: true, stdio: ["ignore", "pipe", "ignore"] });
  let printed = "";
  while (printed.split("ready").length <= lines) printed += (await once(child.stdout!, "data"))[0];
  const ended = once(child, "exit").then(([code, signal]) => signal ?? code);
  return { child, ended };
}

describe("ending the processes of a lost attempt", () => {
  it("finds none where none is", async () => {
    expect(await endProcessesWithToken(randomUUID())).toBe(0);
  });

  it("ends those that carry the token, also in other groups and sessions, and no others", async () => {
    const token = randomUUID();
    const mine = await startWithToken(token, `trap '' TERM; setsid sh -c '${READY}' & ${READY}`, 2);
    const longer = await startWithToken(`${token}1`, READY);
    expect(await endProcessesWithToken(token)).toBeGreaterThanOrEqual(2);
    expect(await mine.ended).toBe("SIGKILL");
    expect(await endProcessesWithToken(token)).toBe(0);
    expect(longer.child.exitCode ?? longer.child.signalCode).toBeNull();
    expect(await endProcessesWithToken(`${token}1`)).toBeGreaterThan(0);
    expect(await longer.ended).toBe("SIGKILL");
  });

  it("ends the rest of the group, which may have thrown the token away", async () => {
    const token = randomUUID();
    const group = await startWithToken(
      token,
      `env -i /bin/sh -c 'echo ready; exec sleep 1000' & ${READY}`,
      2,
    );
    await endProcessesWithToken(token);
    await group.ended;
    const isGone = (): boolean => {
      try {
        return !process.kill(-group.child.pid!, 0);
      } catch {
        return true;
      }
    };
    while (!isGone()) await new Promise((resolve) => setTimeout(resolve, 5));
  });

  it("lets a process end by itself where there is a grace", async () => {
    const token = randomUUID();
    const polite = await startWithToken(
      token,
      "trap 'exit 5' TERM; echo ready; while :; do sleep 0.01; done",
    );
    await endProcessesWithToken(token, 30_000);
    expect(await polite.ended).toBe(5);
  });

  it("kills after the grace", async () => {
    const token = randomUUID();
    const stubborn = await startWithToken(token, `trap '' TERM; ${READY}`);
    await endProcessesWithToken(token, 30);
    expect(await stubborn.ended).toBe("SIGKILL");
  });
});
