import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { commandLine, repositoryRoot } from "./support/cli.js";
import { eventually } from "./support/daruma-process.js";
import { type Block, blocksOf } from "./support/document-blocks.js";

/** `UPDATE_SAMPLES=1` writes what the commands print now into the page. */
const UPDATES = process.env.UPDATE_SAMPLES === "1";
const PAGE = "docs/morning-after.md";
const PATIENCE_MS = 240_000;

const folder = mkdtempSync(join(tmpdir(), "daruma-session-"));
let server: ChildProcess;
let url = "";

beforeAll(async () => {
  server = spawn(process.execPath, [commandLine, "serve", "--port", "0", "--output-dir", "out"], {
    cwd: folder,
    stdio: ["ignore", "pipe", "inherit"],
  });
  let said = "";
  server.stdout!.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  url = await eventually("the server to listen", () => /listening at (\S+)/.exec(said)?.[1]);
});
afterAll(() => {
  server.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

/** As somebody types it in the folder, with the address of the server in the environment. */
function typed(line: string): string {
  const daruma = `daruma() { '${process.execPath}' '${commandLine}' "$@"; }; `;
  const env = { ...process.env, NO_COLOR: "1", DARUMA_SERVER: url };
  const { stdout } = spawnSync("/bin/sh", ["-c", daruma + line], { cwd: folder, env, encoding: "utf8" });
  return stdout;
}

function session(block: Block): string {
  const lines = block.text.split("\n").filter((line) => line.startsWith("$ "));
  return lines.map((line) => `${line}\n${typed(line.slice(2))}`).join("");
}

/** What differs from run to run. */
function masked(text: string): string {
  return text
    .replace(/\d+(\.\d+)? (ms|s|min)\b/g, "N ms")
    .replace(/\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+Z)?/g, "TIME")
    .replace(/(\S) {2,}/g, "$1  ");
}

/** Runs go on meanwhile: until it prints what the page says, or twice the same. */
async function settled(block: Block): Promise<string> {
  for (let before = ""; ; ) {
    const printed = session(block);
    if (masked(printed) === masked(block.text) || (UPDATES && masked(printed) === before)) return printed;
    before = masked(printed);
    await delay(UPDATES ? 3_000 : 200);
  }
}

it(`${PAGE} shows what its commands print, one after the other`, { timeout: 2 * PATIENCE_MS }, async () => {
  let document = readFileSync(join(repositoryRoot, PAGE), "utf8");
  const blocks = blocksOf(PAGE);
  for (const { language, text } of blocks)
    if (language === "yaml") writeFileSync(join(folder, `${/^name: (.*)$/m.exec(text)![1]}.yaml`), text);
  const sessions = blocks.filter(({ language, text }) => language === "text" && text.startsWith("$ "));
  expect(sessions.length).toBeGreaterThan(8);
  for (const block of sessions) {
    if ("bank" in block.notes) writeFileSync(join(folder, "bank.up"), "");
    const printed = "settles" in block.notes ? await settled(block) : session(block);
    if (UPDATES && masked(printed) !== masked(block.text))
      document = document.replace(`\`\`\`text\n${block.text}\`\`\``, () => `\`\`\`text\n${printed}\`\`\``);
    if (!UPDATES) expect(masked(printed), `${PAGE}:${block.line}`).toBe(masked(block.text));
  }
  if (UPDATES) writeFileSync(join(repositoryRoot, PAGE), document);
});

it("docs/failure-book.md repeats only what is shown there", () => {
  const shown = new Set(blocksOf(PAGE).map(({ text }) => text));
  const repeated = blocksOf("docs/failure-book.md").filter(({ text }) => text.startsWith("$ "));
  expect(repeated.length).toBeGreaterThan(0);
  for (const { text } of repeated) expect(shown).toContain(text);
});
