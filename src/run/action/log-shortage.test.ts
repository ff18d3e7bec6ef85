import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, it, vi } from "vitest";
import { HANG_MS } from "../../../test/support/hang.js";
import { createRedactor } from "../../core/redaction/redaction.js";
import { openLogFile } from "./log-file.js";

const disk = vi.hoisted(() => ({ isFull: false, code: "ENOSPC", tries: 0 }));
vi.mock("node:fs", async (original) => {
  const real = await original<typeof import("node:fs")>();
  const writeSync = (fd: number, bytes: Uint8Array, ...where: [number, number, number]): number => {
    if (!disk.isFull) return real.writeSync(fd, bytes, ...where);
    disk.tries += 1;
    // A disk takes what it still has room for, and refuses the rest.
    if (disk.tries === 1) return real.writeSync(fd, bytes, where[0], 2, where[2]);
    throw Object.assign(new Error(`${disk.code}: no space left on device`), { code: disk.code });
  };
  return { ...real, writeSync };
});

const folder = mkdtempSync(join(tmpdir(), "daruma-full-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
beforeEach(() => Object.assign(disk, { isFull: true, code: "ENOSPC", tries: 0 }));

function openLog(name: string) {
  const told: unknown[] = [];
  const file = join(folder, name);
  const log = openLogFile(file, createRedactor([]).stream(), {
    onShortage: (error) => told.push(error),
  });
  return { log, told, text: () => readFileSync(file, "utf8") };
}

describe("the log of an attempt on a full disk", () => {
  it.each(["ENOSPC", "EDQUOT"])("is whole once there is room again, each byte once: %s", async (code) => {
    disk.code = code;
    const { log, told, text } = openLog(code);
    log.write(Buffer.from("first\n"));
    let isClosed = false;
    const closed = log.close().then(() => {
      isClosed = true;
    });
    await vi.waitFor(() => expect(told.length).toBeGreaterThan(1), HANG_MS);
    expect(isClosed).toBe(false);
    disk.isFull = false;
    await closed;
    expect(text()).toBe("first\n");
  });

  it("goes on with what is printed meanwhile", async () => {
    const { log, told, text } = openLog("meanwhile");
    log.write(Buffer.from("first\n"));
    await vi.waitFor(() => expect(told.length).toBeGreaterThan(0), HANG_MS);
    log.write(Buffer.from("second\n"));
    disk.isFull = false;
    await log.close();
    expect(text()).toBe("first\nsecond\n");
  });

  it("is given up when nobody wants the attempt any more", async () => {
    const { log } = openLog("unwanted");
    const ended = new AbortController();
    log.write(Buffer.from("first\n"));
    const closed = log.close(ended.signal);
    ended.abort();
    await expect(closed).rejects.toMatchObject({ code: "LOG_FAILED" });
  });

  it("is given up when more waits for it than fits in memory", async () => {
    const { log, told } = openLog("large");
    log.write(Buffer.from("first\n"));
    await vi.waitFor(() => expect(told.length).toBeGreaterThan(0), HANG_MS);
    log.write(Buffer.alloc(5 * 1024 * 1024, "x"));
    await expect(log.close()).rejects.toMatchObject({ code: "LOG_FAILED" });
  });

  it("fails at once for any other reason", async () => {
    disk.code = "EIO";
    const { log } = openLog("broken");
    log.write(Buffer.from("first\n"));
    await expect(log.close()).rejects.toMatchObject({ code: "LOG_FAILED" });
  });
});
