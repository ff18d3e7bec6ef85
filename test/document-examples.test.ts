import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadDefinition } from "../src/definition/load.js";
import { WORKFLOW_FIELDS } from "../src/definition/workflow-fields.js";
import { repositoryRoot } from "./support/cli.js";
import { REAL_CHECKS } from "./support/workflow-text.js";

/** A block that is a whole file, or keys of one: those get a step. Keys of a step (indented) stand in other steps' places. */
function asFile(block: string): string {
  if (/^\s/.test(block)) return `steps:\n  a:\n    exec: make\n${block}`;
  return /^(?:steps|checks|jobs):/m.test(block) ? block : `${block}\nsteps: { a: { exec: make } }\n`;
}

/** Other files are YAML too. */
function isWorkflow(block: string): boolean {
  const keys = [...block.matchAll(/^(\w+):/gm)].map((match) => match[1] ?? "");
  return (
    /^\s/.test(block) || keys.includes("steps") || keys.every((key) => Object.hasOwn(WORKFLOW_FIELDS, key))
  );
}

function blocksOf(document: string) {
  const text = readFileSync(join(repositoryRoot, document), "utf8");
  const blocks = [...text.matchAll(/^```ya?ml\n(.*?)^```$/gms)].map((match) => ({
    place: `${document}:${text.slice(0, match.index).split("\n").length + 1}`,
    block: match[1] ?? "",
  }));
  return blocks.filter(({ block }) => isWorkflow(block));
}

const filesIn = (folder: string, ending: string) =>
  readdirSync(join(repositoryRoot, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(ending))
    .map((name) => join(folder, name))
    .sort();

const documents = ["README.md", ...filesIn("docs", ".md")];

/** What loading a text finds, as `line: CODE message`. */
function findingsOf(text: string, file: string): string[] {
  const loaded = loadDefinition(text, { ...REAL_CHECKS, file });
  const found = loaded.ok ? loaded.warnings : loaded.problems;
  return found.map(({ line, code, message }) => `${line}: ${code} ${message}`);
}

describe("workflow files to learn from", () => {
  it.each(documents.flatMap(blocksOf))("$place loads without a problem or a warning", ({ place, block }) => {
    expect(findingsOf(asFile(block), place)).toEqual([]);
  });

  it.each(filesIn("examples", ".yaml"))("%s loads without a problem or a warning", (file) => {
    expect(findingsOf(readFileSync(join(repositoryRoot, file), "utf8"), file)).toEqual([]);
  });
});
