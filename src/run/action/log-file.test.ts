import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it, vi } from "vitest";
import { createRedactor } from "../../core/redaction/redaction.js";
import { emptyLogsMade, MAX_TAIL_BYTES, openLogFile } from "./log-file.js";

const folder = mkdtempSync(join(tmpdir(), "daruma-log-"));
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;
const newPath = () => join(folder, `${files++}.o`);
const redactor = createRedactor([{ name: "N", value: "hunter22" }]);
const openLog = (path: string) => openLogFile(path, redactor.stream());

describe("a log file", () => {
  it("is made with the first byte, and one that an earlier database left under its name is gone before", async () => {
    const path = newPath();
    writeFileSync(path, "of an earlier database");
    const log = openLog(path);
    expect(existsSync(path)).toBe(false);
    log.write(Buffer.alloc(0));
    await log.close();
    expect(existsSync(path)).toBe(false);
  });

  it("exists, for its owner only, even if nothing is printed, where it is made at once", async () => {
    const path = newPath();
    await openLogFile(path, redactor.stream(), { create: "now" }).close();
    await emptyLogsMade();
    expect(statSync(path).size).toBe(0);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it("makes the folder it stands in", async () => {
    const path = join(folder, "a", "b", "c.o");
    const log = openLog(path);
    log.write(Buffer.from("hello"));
    await log.close();
    expect(readFileSync(path, "utf8")).toBe("hello");
  });

  it("holds all that is printed before its folder is there", async () => {
    const path = join(folder, "not", "there", "yet.o");
    const log = openLog(path);
    const chunk = Buffer.alloc(1 << 20, "x");
    for (let written = 0; written < 6; written += 1) log.write(chunk);
    await log.close();
    expect(statSync(path).size).toBe(6 << 20);
  });

  it("starts empty where an old file has its name", async () => {
    const path = newPath();
    writeFileSync(path, "something old and long");
    const log = openLog(path);
    log.write(Buffer.from("new"));
    await log.close();
    expect(readFileSync(path, "utf8")).toBe("new");
  });

  it("holds what was printed, redacted, in order, whatever the sizes of the chunks", async () => {
    const path = newPath();
    const log = openLog(path);
    let expected = "";
    for (let line = 0; line < 20_000; line++) {
      log.write(Buffer.from(`${line} hun`));
      log.write(Buffer.from(`ter22\n`));
      expected += `${line} [redacted:N]\n`;
      if (line % 1_000 === 0) {
        await new Promise((resolve) => setImmediate(resolve));
        log.write(Buffer.from("x".repeat(200_000)));
        expected += "x".repeat(200_000);
      }
    }
    await log.close();
    expect(readFileSync(path, "utf8")).toBe(expected);
    expect(log.bytesWritten).toBe(expected.length);
  });

  it("keeps no more than a few MB in memory, even before the file is open", async () => {
    const path = newPath();
    const log = openLog(path);
    const chunk = Buffer.alloc(65_536, 97);
    for (let written = 0; written < 64 * 1_024 * 1_024; written += chunk.length)
      log.write(Buffer.from(chunk));
    const onDisk = statSync(path).size;
    expect(64 * 1_024 * 1_024 - onDisk).toBeLessThan(8 * 1_024 * 1_024);
    await log.close();
    expect(statSync(path).size).toBe(64 * 1_024 * 1_024);
  });

  it("shows what was printed while its file was being made, though nothing else is printed", async () => {
    const path = newPath();
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const log = openLog(path);
    log.write(Buffer.from("the only line\n"));
    // The file cannot be there: opening it takes a turn of the loop.
    vi.advanceTimersByTime(100);
    vi.useRealTimers();
    await expect.poll(() => existsSync(path) && readFileSync(path, "utf8")).toBe("the only line\n");
    await log.close();
  });

  it("shows what was printed before it is closed", async () => {
    const path = newPath();
    const log = openLog(path);
    log.write(Buffer.from("progress\n"));
    await expect.poll(() => readFileSync(path, "utf8")).toBe("progress\n");
    await log.close();
  });

  it("reports a full disk when it is closed, and not before", async () => {
    const log = openLog("/dev/full");
    for (let round = 0; round < 200; round++) log.write(Buffer.alloc(65_536, 97));
    await new Promise((resolve) => setImmediate(resolve));
    log.write(Buffer.from("the last words"));
    await expect(log.close()).rejects.toMatchObject({
      code: "LOG_FAILED",
      message: expect.stringContaining("ENOSPC"),
    });
    expect(log.tail(14)).toBe("the last words");
  });

  it("reports a small loss too, and one of a file that cannot be opened", async () => {
    const small = openLog("/dev/full");
    small.write(Buffer.from("x"));
    await expect(small.close(AbortSignal.abort())).rejects.toMatchObject({ code: "LOG_FAILED" });
    const file = newPath();
    writeFileSync(file, "");
    const impossible = openLog(join(file, "x.o"));
    impossible.write(Buffer.from("x"));
    await expect(impossible.close()).rejects.toMatchObject({
      code: "LOG_FAILED",
      message: expect.stringContaining("ENOTDIR"),
    });
  });

  it("may be closed twice", async () => {
    const log = openLog(newPath());
    log.write(Buffer.from("x"));
    expect(log.close()).toBe(log.close());
    await log.close();
  });
});

describe("its tail", () => {
  it("is the redacted end, at most 8 KB, and includes what was held back", async () => {
    const log = openLog(newPath());
    log.write(Buffer.from(`${"a".repeat(20_000)}hunter22 hun`));
    await log.close();
    expect(log.tail(100_000).length).toBe(MAX_TAIL_BYTES);
    expect(log.tail(15)).toBe("redacted:N] hun");
    expect(log.tail(5)).toBe("] hun");
  });
});
