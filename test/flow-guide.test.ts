import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import ts from "typescript";
import { afterAll, expect, it } from "vitest";
import { commandLine, repositoryRoot } from "./support/cli.js";
import { blocksOf } from "./support/document-blocks.js";

/** `UPDATE_SAMPLES=1` writes what the commands print now into the page. */
const UPDATES = process.env.UPDATE_SAMPLES === "1";
const PAGE = "docs/flows.md";
const folder = mkdtempSync(join(tmpdir(), "daruma-guide-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** As it runs where Node does not read types, with the library that was built. */
function writeProgram(name: string, text: string): void {
  const library = pathToFileURL(join(repositoryRoot, "dist/index.js")).href;
  const options = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 };
  const { outputText } = ts.transpileModule(text, { compilerOptions: options });
  writeFileSync(
    join(folder, name.replace(/\.ts$/, ".mjs")),
    outputText.replace('from "daruma"', `from "${library}"`),
  );
}

/** `node FILE.ts` and `daruma`, as somebody types them in the folder. */
function typed(line: string): string {
  const node = `node() { file="$1"; shift; '${process.execPath}' "\${file%.ts}.mjs" "$@"; }; `;
  const daruma = `daruma() { '${process.execPath}' '${commandLine}' "$@"; }; `;
  const { stdout, stderr } = spawnSync("/bin/sh", ["-c", node + daruma + line], {
    cwd: folder,
    env: { ...process.env, NO_COLOR: "1" },
    encoding: "utf8",
  });
  expect(stderr, line).toBe("");
  return stdout.replaceAll(folder, "/shop");
}

const masked = (text: string): string =>
  text.replace(/\d+(\.\d+)? (ms|s|min)\b/g, "N ms").replaceAll(".mjs", ".ts");

it(`${PAGE} shows what its programs and commands print`, () => {
  let document = readFileSync(join(repositoryRoot, PAGE), "utf8");
  const blocks = blocksOf(PAGE);
  for (const { notes, text } of blocks) if (notes.program !== undefined) writeProgram(notes.program, text);
  const sessions = blocks.filter(({ notes }) => "session" in notes);
  expect(sessions.length).toBeGreaterThan(2);
  for (const { text, line } of sessions) {
    const lines = text.split("\n").filter((each) => each.startsWith("$ "));
    const printed = lines.map((each) => `${each}\n${typed(each.slice(2))}`).join("");
    if (UPDATES)
      document = document.replace(`\`\`\`text\n${text}\`\`\``, () => `\`\`\`text\n${printed}\`\`\``);
    else expect(masked(printed), `${PAGE}:${line}`).toBe(masked(text));
  }
  if (UPDATES) writeFileSync(join(repositoryRoot, PAGE), document.replaceAll(".mjs", ".ts"));
});
