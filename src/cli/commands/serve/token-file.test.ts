import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { readTokenFile } from "./token-file.js";

const folder = mkdtempSync(join(tmpdir(), "daruma-token-file-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const TOKEN = "drm_canary";

function write(name: string, text: string, mode = 0o600): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  chmodSync(file, mode);
  return file;
}

function refusal(file: string): string {
  try {
    readTokenFile(file);
  } catch (error) {
    return (error as Error).message.replace(file, "FILE");
  }
  return "none";
}

describe("a token file", () => {
  it("gives its token, without the line's end", () => {
    expect(readTokenFile(write("good", `${TOKEN}\n`))).toBe(TOKEN);
    expect(readTokenFile(write("read-only", TOKEN, 0o400))).toBe(TOKEN);
  });

  it.each([0o640, 0o604, 0o620, 0o601])("is refused where others have any right to it: %o", (mode) => {
    expect(refusal(write("shared", TOKEN, mode))).toBe("--token-file FILE can be read or changed by others");
  });

  it("is judged by what a link leads to", () => {
    const file = join(folder, "link");
    symlinkSync(write("behind", TOKEN, 0o644), file);
    expect(refusal(file)).toBe("--token-file FILE can be read or changed by others");
  });

  it.runIf(process.getuid?.() === 0)("is refused where it is another user's", () => {
    const file = write("another", TOKEN);
    chownSync(file, 12_345, 12_345);
    expect(refusal(file)).toBe("--token-file FILE belongs to another user");
  });

  it.each([
    ["empty", ""],
    ["two lines", `${TOKEN}\nother`],
    ["large", "x".repeat(5_000)],
    ["binary", "drm_\u0000x"],
  ])("is refused where it has no single token, without showing what it has: %s", (name, text) => {
    expect(refusal(write(name.replace(" ", "-"), text))).toBe(
      "--token-file FILE is not a file with one token",
    );
  });

  it("is refused where it is a folder or is not there", () => {
    mkdirSync(join(folder, "folder"), { mode: 0o700 });
    expect(refusal(join(folder, "folder"))).toBe("--token-file FILE is not a file with one token");
    expect(refusal(join(folder, "nothing"))).toMatch(/^--token-file FILE cannot be read: ENOENT/);
  });
});
