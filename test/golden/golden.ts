import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect } from "vitest";
import { repositoryRoot } from "../support/repository-root.js";

const FOLDER = "test/golden/recorded";
/** Of a long difference; the rest mostly repeats it. */
const MAX_LINES = 120;

/** Compares a text with the recorded one, or records it. */
export function expectAsRecorded(name: string, text: string): void {
  const file = join(repositoryRoot, FOLDER, name);
  if (process.env.GOLDEN === "record") {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  } else if (!existsSync(file)) expect.fail(`${FOLDER}/${name} is not recorded: npm run golden:record`);
  else if (readFileSync(file, "utf8") !== text) expect.fail(differenceOf(name, file, text));
}

function differenceOf(name: string, file: string, text: string): string {
  const folder = mkdtempSync(join(tmpdir(), "golden-"));
  const now = join(folder, "now");
  writeFileSync(now, text);
  const { stdout } = spawnSync("git", ["diff", "--no-index", "--no-color", "--unified=4", file, now], {
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  rmSync(folder, { recursive: true, force: true });
  const lines = stdout.split("\n").slice(4);
  const more = lines.length > MAX_LINES ? [`... and ${lines.length - MAX_LINES} lines more`] : [];
  return [
    `${FOLDER}/${name} says something else (-) than the product today (+):`,
    ...lines.slice(0, MAX_LINES),
    ...more,
    "If that is meant, record anew with `npm run golden:record` and review the difference in git.",
  ].join("\n");
}
