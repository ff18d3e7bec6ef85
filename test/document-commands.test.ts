import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { createProgram } from "../src/cli/declare/program.js";
import { commandLine, repositoryRoot } from "./support/cli.js";
import { type Block, blocksOf, PAGES } from "./support/document-blocks.js";
import { freePort } from "./support/free-port.js";

/**
 * The shell blocks of a page are run in order, by one shell in one folder, where the page's named workflows lie too. Notes
 * before a block change that: `not run: REASON`; `first: COMMANDS` to be run before it; `exits: CODE` where it does not end
 * with 0; `with a server` at the page's address. A text block with the note `output` is what the shell block before it
 * prints; `UPDATE_SAMPLES=1` rewrites it.
 */
const NOTES = ["exits", "first", "not run", "output", "with a server"];
const UPDATES = process.env.UPDATE_SAMPLES === "1";
/** No page comes near it; it ends what would wait for ever. */
const MAX_PAGE_MS = 240_000;
/** The port in the documents. In the test each page has its own. */
const WRITTEN_PORT = "7420";

const isShell = ({ language }: Block): boolean => /^(?:sh|bash|shell|console)$/.test(language);
const isRun = (block: Block): boolean => isShell(block) && block.notes["not run"] === undefined;
const pages = PAGES.map((page) => ({ page, blocks: blocksOf(page) })).filter(({ blocks }) =>
  blocks.some(isShell),
);

const scratch = mkdtempSync(join(tmpdir(), "daruma-document-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

function folderOf(page: string, blocks: readonly Block[]): string {
  const folder = join(scratch, page.replaceAll("/", "_"));
  mkdirSync(folder);
  for (const { language, text } of blocks) {
    const name = language === "yaml" ? /^name: (\S+)$/m.exec(text)?.[1] : undefined;
    if (name !== undefined) writeFileSync(join(folder, `${name}.yaml`), text);
  }
  return folder;
}

const SERVE = `daruma serve > server.log &
until curl -s http://127.0.0.1:${WRITTEN_PORT}/readyz > ready.log; do sleep 0.1; done`;

/** Says where it is before each block, so that what it prints can be told apart. */
function scriptOf(blocks: readonly Block[]): string {
  const parts = blocks.filter(isRun).map(({ text, line, notes }) => {
    const before = [notes["with a server"] === undefined ? "" : SERVE, notes.first ?? ""].join("\n");
    const own =
      notes.exits === undefined ? text : `set +e\n${text}[ $? -eq ${notes.exits} ] || exit 99\nset -e\n`;
    return `${before}\nprintf '\\001${line}\\n'\n${own}`;
  });
  return `exec 2>&1
set -e
daruma() { '${process.execPath}' '${commandLine}' "$@"; }
curl() { command curl --fail-with-body "$@"; }
${parts.join("\n")}`;
}

/** In a process group that ends with the page, so that no server is left behind. */
async function runPage(script: string, cwd: string): Promise<{ status: number | null; printed: string }> {
  const env = { PATH: process.env.PATH, HOME: cwd, TMPDIR: tmpdir(), NO_COLOR: "1" };
  const shell: ChildProcess = spawn("/bin/sh", ["-c", script], {
    ...{ cwd, env, detached: true },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let printed = "";
  shell.stdout!.setEncoding("utf8").on("data", (piece: string) => {
    printed += piece;
  });
  const end = (): void => {
    try {
      process.kill(-shell.pid!, "SIGKILL");
    } catch {
      // Everything in it has ended already.
    }
  };
  const limit = setTimeout(end, MAX_PAGE_MS);
  const [status] = (await once(shell, "exit")) as [number | null];
  clearTimeout(limit);
  end();
  return { status, printed: printed.replaceAll(cwd, "/project") };
}

/** Times differ from run to run, and with them the width of a column. */
function masked(text: string): string {
  return text
    .replace(/\d+(\.\d+)? ?(ms|s|min)\b/g, "N ms")
    .replace(/ +/g, " ")
    .trimEnd();
}

function update(page: string, old: string, printed: string): void {
  const file = join(repositoryRoot, page);
  const fenced = (text: string): string => `<!-- output -->\n\`\`\`text\n${text}\`\`\``;
  writeFileSync(
    file,
    readFileSync(file, "utf8").replace(fenced(old), () => fenced(printed)),
  );
}

describe("the shell blocks of the documents", () => {
  it.each(pages.filter(({ blocks }) => blocks.some(isRun)))(
    "$page: do what the page says",
    async ({ page, blocks }) => {
      const port = await freePort();
      const script = scriptOf(blocks)
        .replaceAll(WRITTEN_PORT, `${port}`)
        .replaceAll("daruma serve", `daruma serve --port ${port}`);
      const { status, printed } = await runPage(script, folderOf(page, blocks));
      expect(status, `${page}, at the line after the last mark:\n${printed}`).toBe(0);
      const texts = new Map(
        printed.split("\u0001").map((part) => part.split(/\n(.*)/s, 2) as [string, string]),
      );
      const outputs = blocks.flatMap((block, index) =>
        block.notes.output === undefined ? [] : [{ ...block, by: blocks[index - 1]! }],
      );
      for (const { line, text, by } of outputs) {
        const now = texts.get(`${by.line}`) ?? "";
        if (!UPDATES) expect(masked(now), `${page}:${line}`).toBe(masked(text));
        else if (masked(now) !== masked(text)) update(page, text, now);
      }
    },
    MAX_PAGE_MS + 10_000,
  );

  it("say why, where they are not run, and have no note that means nothing", () => {
    const all = pages.flatMap(({ page, blocks }) => blocks.map((block) => ({ page, ...block })));
    // A comment before a drawing is for the script that makes it.
    const wrong = all.filter(
      ({ language, notes }) =>
        language !== "mermaid" &&
        (notes["not run"] === "" || Object.keys(notes).some((name) => !NOTES.includes(name))),
    );
    expect(wrong.map(({ page, line }) => `${page}:${line}`)).toEqual([]);
  });
});

const program = await createProgram({ exitCode: 0 }, []);

/** What a command line names that does not exist; "" if all of it does. */
function faultOf(words: readonly string[]): string {
  let at = program;
  let place = 0;
  for (; at.commands.some((command) => command.name() === words[place]); place += 1)
    at = at.commands.find((command) => command.name() === words[place])!;
  if (at === program && !words[0]?.startsWith("-")) return `no command ${words[0]}`;
  const flags = words.filter((word) => word.startsWith("--")).map((word) => word.split("=")[0]);
  const known = [...at.options, ...program.options].map(({ long }) => long);
  const unknown = flags.find((flag) => flag !== "--help" && !known.includes(flag));
  return unknown === undefined ? "" : `${at.name()} has no ${unknown}`;
}

describe("the commands in the documents", () => {
  const lines = pages.flatMap(({ page, blocks }) =>
    blocks.filter(isShell).flatMap(({ text, line }) =>
      text.split("\n").flatMap((typed, index) => {
        const command = /(?:^|[|&;(] ?)(?:\w+=\S+ )*daruma ([^|#>)]+)/.exec(typed)?.[1];
        return command === undefined ? [] : [{ place: `${page}:${line + index}`, command: command.trim() }];
      }),
    ),
  );

  it("are found", () => {
    expect(lines.length).toBeGreaterThan(15);
  });

  it.each(lines)("$place: daruma $command exists, with its flags", ({ command }) => {
    expect(faultOf(command.split(/\s+/))).toBe("");
  });
});
