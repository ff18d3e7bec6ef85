import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { describe, expect, it, vi } from "vitest";
import { endProcessesWithToken } from "./attempt-processes.js";

const shortage = vi.hoisted(() => ({ code: "", times: 0 }));
vi.mock("node:fs/promises", async (original) => {
  const real = await original<typeof import("node:fs/promises")>();
  const readFile = async (...how: Parameters<typeof real.readFile>): Promise<unknown> => {
    if (shortage.times > 0 && String(how[0]).endsWith("/environ")) {
      shortage.times -= 1;
      throw Object.assign(new Error(shortage.code), { code: shortage.code });
    }
    return real.readFile(...how);
  };
  return { ...real, readFile };
});

describe.runIf(process.platform === "linux")("a process that cannot be looked at", () => {
  it("for want of file descriptors is looked at again, not taken for gone", async () => {
    const token = randomUUID();
    const child = spawn("sleep", ["600"], { env: { ...process.env, DARUMA_ATTEMPT_TOKEN: token } });
    const gone = once(child, "exit");
    await once(child, "spawn");
    Object.assign(shortage, { code: "EMFILE", times: 1_000 });
    expect(await endProcessesWithToken(token)).toBeGreaterThan(0);
    await gone;
  });

  it("because it is somebody else's is none of the attempt's", async () => {
    Object.assign(shortage, { code: "EACCES", times: 1_000_000 });
    expect(await endProcessesWithToken(randomUUID())).toBe(0);
    shortage.times = 0;
  });
});
