import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import { createProgram } from "../src/cli/declare/program.js";
import { type CatalogueEntry, ERROR_CATALOGUE } from "../src/core/errors/errors.js";
import { CONTROL_ACTIONS } from "../src/operations/controls/plan-control.js";
import { OPERATIONS } from "../src/operations/operations.js";

const ENTRIES: readonly (readonly [string, CatalogueEntry])[] = Object.entries(ERROR_CATALOGUE);
const program = await createProgram({ exitCode: 0 }, []);

/** Inline code that is a command, without `daruma`. */
function commandsIn(text: string): string[][] {
  return [...text.matchAll(/`daruma ([^`]+)`/g)].map((match) => match[1]!.split(" "));
}

/** What is wrong with a command; "" for one that can be typed once its capitals are filled in. */
function faultOf(words: readonly string[]): string {
  let at: Command = program;
  let place = 0;
  for (; place < words.length; place += 1) {
    const next = at.commands.find((command) => command.name() === words[place]);
    if (next === undefined) break;
    at = next;
  }
  if (at === program && words[0] !== "--help") return `there is no command ${words[0]}`;
  const flags = words.slice(place).filter((word) => word.startsWith("--"));
  const unknown = flags.find(
    (flag) => ![...at.options, ...program.options].some(({ long }) => long === flag),
  );
  if (unknown !== undefined && unknown !== "--help") return `${at.name()} has no ${unknown}`;
  const filled = words.slice(place).filter((word) => !word.startsWith("--"));
  return filled.every((word) => /^[A-Z]+$/.test(word)) ? "" : `${filled.join(" ")} is not to be filled in`;
}

const KNOWN_NAMES = new Set<string>([
  ...OPERATIONS.flatMap(({ name, input }) => [name, ...Object.keys(input.shape)]),
  ...CONTROL_ACTIONS,
]);
const NAME = /\b[a-z]+(?:_[a-z]+)+\b/g;

describe("what the catalogue says to do next", () => {
  it.each(ENTRIES)("%s names commands and flags that there are", (_, { next }) => {
    expect(commandsIn(next).map(faultOf)).toEqual(commandsIn(next).map(() => ""));
  });

  it.each(ENTRIES)(
    "%s names no command or flag to whom asks over REST or MCP",
    (_, { next, asked = next }) => {
      expect(asked).not.toMatch(/`daruma |(?<![\w`-])--[a-z]/);
    },
  );

  it.each(ENTRIES)("%s names operations and fields that there are", (_, { next, asked = "" }) => {
    const own = (asked.match(NAME) ?? []).filter((name) => !next.includes(name));
    expect(own.filter((name) => !KNOWN_NAMES.has(name))).toEqual([]);
  });

  it.each(ENTRIES)("%s is a sentence", (_, { means, next, asked = next, fix = next }) => {
    for (const text of [means, next, asked, fix]) expect(text).toMatch(/^[A-Z`a-z].*\.$/);
  });

  const ofSteps = ENTRIES.slice(
    ENTRIES.findIndex(([code]) => code === "TIMEOUT"),
    ENTRIES.findIndex(([code]) => code === "EXPRESSION_TIMEOUT"),
  );

  it.each(ofSteps)("%s has advice on the cause that names no command: explain adds those", (_, entry) => {
    expect(entry.fix ?? entry.next).not.toContain("`daruma ");
  });

  it("knows the codes of a step that passed its resource requirements", () => {
    expect(ofSteps.map(([code]) => code)).toEqual(expect.arrayContaining(["OOM", "WALLTIME"]));
  });

  it("is never a retry where the definition itself is at fault, which a run keeps", () => {
    for (const code of ["TEMPLATE_ERROR", "IF_FAILED", "SCRIPT_ERROR", "REQUEST_INVALID"] as const) {
      expect(ERROR_CATALOGUE[code].next).toContain("`daruma fork RUN --from STEP --file FILE`");
      expect(ERROR_CATALOGUE[code].asked).toContain("fork_run");
      expect(ERROR_CATALOGUE[code].next).not.toContain("retry");
    }
  });
});
