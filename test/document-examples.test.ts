import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { WORKFLOW_FIELDS } from "../src/file/fields/workflow-fields.js";
import { workflowJsonSchema } from "../src/file/json-schema.js";
import { loadDefinition } from "../src/file/load.js";
import { repositoryRoot } from "./support/cli.js";
import { blocksOf, filesIn, PAGES } from "./support/document-blocks.js";
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

const workflows = PAGES.flatMap((page) =>
  blocksOf(page)
    .filter(({ language, text }) => /^ya?ml$/.test(language) && isWorkflow(text))
    .map(({ line, text }) => ({ place: `${page}:${line}`, block: text })),
);

/** What loading a text finds, as `line: CODE message`. */
function findingsOf(text: string, file: string): string[] {
  const loaded = loadDefinition(text, { ...REAL_CHECKS, file });
  const found = loaded.ok ? loaded.warnings : loaded.problems;
  return found.map(({ line, code, message }) => `${line}: ${code} ${message}`);
}

describe("docs/workflow-file.md", () => {
  const text = readFileSync(join(repositoryRoot, "docs/workflow-file.md"), "utf8");
  /** The names in the first column of the tables of a section. */
  const namesIn = (heading: string): string[] => {
    const section = text.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? "";
    const cells = [...section.matchAll(/^\| (`[^|]*) \|/gm)].map((match) => match[1] ?? "");
    return cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? ""));
  };
  const { $defs } = workflowJsonSchema() as { $defs: Record<string, { properties: object }> };

  it("has a line for each key of on_fail and on_success, and for no other", { tags: ["V79"] }, () => {
    const keys = [$defs.on_fail!, $defs.on_success!].flatMap(({ properties }) => Object.keys(properties));
    expect(namesIn("on_fail and on_success").toSorted()).toEqual([...new Set(keys)].toSorted());
  });

  it("has a line for each variable that their expressions see", { tags: ["V79"] }, () => {
    expect(namesIn("Variables")).toEqual(
      expect.arrayContaining(["step", "attempt", "loop", "error", "foreach", "env", "pr", "files"]),
    );
  });
});

describe("workflow files to learn from", () => {
  it.each(workflows)("$place loads without a problem or a warning", { tags: ["V79"] }, ({ place, block }) => {
    expect(findingsOf(asFile(block), place)).toEqual([]);
  });

  const examples = filesIn("examples", ".yaml").filter((file) => !file.endsWith(".config.yaml"));

  it.each(examples)("%s loads without a problem or a warning", (file) => {
    expect(findingsOf(readFileSync(join(repositoryRoot, file), "utf8"), file)).toEqual([]);
  });
});
