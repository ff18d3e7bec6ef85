import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { commandLine, repositoryRoot } from "./support/cli.js";

/** `UPDATE_SAMPLES=1` writes what the commands print now into the pages. */
const UPDATES = process.env.UPDATE_SAMPLES === "1";

interface Sample {
  readonly page: string;
  readonly line: number;
  /** The file that stands before it on the page. */
  readonly workflow: string;
  /** Of its last sentence, such as `daruma explain last`. */
  readonly commands: readonly string[];
  readonly text: string;
}

/** A text block whose paragraph ends with commands, after a workflow with a name. What needs a signal or a cancel is told, not run. */
function samplesOf(page: string): Sample[] {
  const document = readFileSync(join(repositoryRoot, page), "utf8");
  let workflow = "";
  const samples: Sample[] = [];
  for (const block of document.matchAll(/^```(\w+)\n(.*?)^```$/gms)) {
    const [, language, body = ""] = block;
    if (language === "yaml" && /^name: /m.test(body)) workflow = body;
    const before = document.slice(0, block.index);
    const paragraph = before.trimEnd().split("\n\n").at(-1)!;
    const sentence = paragraph.split(". ").at(-1)!;
    const commands = [...sentence.matchAll(/`(daruma [^`]+)`/g)].map((match) => match[1]!);
    const isRun = language === "text" && workflow !== "" && sentence.endsWith("`:");
    if (isRun && !/`(?:kill|daruma cancel)/.test(paragraph))
      samples.push({ page, line: before.split("\n").length, workflow, commands, text: body });
  }
  return samples;
}

const PAGES = [
  "docs/failure-book.md",
  "docs/on-success.md",
  "docs/search.md",
  ...readdirSync(join(repositoryRoot, "docs/ladder")).map((name) => `docs/ladder/${name}`),
].sort();
const SAMPLES = PAGES.flatMap(samplesOf);

/** One folder for each workflow: its samples follow each other. */
const folders = new Map<string, string>();
afterAll(() => {
  for (const folder of folders.values()) rmSync(folder, { recursive: true, force: true });
});

function typed(command: string, cwd: string): string {
  const line = command.replace(/^daruma/, `'${process.execPath}' '${commandLine}'`);
  const env = { ...process.env, NO_COLOR: "1" };
  const { stdout } = spawnSync("/bin/sh", ["-c", line], { cwd, env, encoding: "utf8" });
  return stdout.replaceAll(cwd, "/project");
}

function folderOf(workflow: string): string {
  const known = folders.get(workflow);
  if (known !== undefined) return known;
  const folder = mkdtempSync(join(tmpdir(), "daruma-samples-"));
  folders.set(workflow, folder);
  const name = /^name: (.*)$/m.exec(workflow)![1]!;
  writeFileSync(join(folder, `${name}.yaml`), workflow);
  typed(`daruma run ${name}.yaml`, folder);
  return folder;
}

/** What differs from run to run. */
function masked(text: string): string {
  return text
    .replace(/\d+(\.\d+)? (ms|s|min)\b/g, "N ms")
    .replace(/(\S) {2,}/g, "$1  ")
    .replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g, "TIME");
}

/** Durations as the page has them, where nothing else has changed, so that an update leaves the page alone. */
function updated({ page, text }: Sample, printed: string): void {
  if (masked(text) === masked(printed)) return;
  const file = join(repositoryRoot, page);
  writeFileSync(
    file,
    readFileSync(file, "utf8").replace(`\`\`\`text\n${text}\`\`\``, () => `\`\`\`text\n${printed}\`\`\``),
  );
}

describe("samples in the documents", () => {
  it("are found", () => {
    expect(SAMPLES.length).toBeGreaterThanOrEqual(9);
  });

  it.each(SAMPLES)("$page:$line is what $commands print", (sample) => {
    const folder = folderOf(sample.workflow);
    const printed = sample.commands.map((command) => typed(command, folder)).join("");
    if (UPDATES) updated(sample, printed);
    else expect(masked(printed)).toBe(masked(sample.text));
  });
});
