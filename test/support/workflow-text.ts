import type { Definition } from "../../src/core/model/definition.js";
import { type LoadOptions, loadDefinition } from "../../src/file/load.js";
import type { Problem } from "../../src/file/read/problem.js";
import { compilePattern } from "../../src/run/sandbox/compile-pattern.js";
import { nameFinder } from "../../src/run/sandbox/names/find-names.js";
import { checkTemplate } from "../../src/run/sandbox/template.js";
import { checkExpression } from "../../src/run/sandbox/wrap-code.js";

/** Looks into expressions and templates as the product does. */
export const REAL_CHECKS = { checkExpression, checkTemplate, compilePattern, findNames: nameFinder };

const options: LoadOptions = {
  file: "flow.yaml",
  checkExpression: () => null,
  checkTemplate: () => null,
  compilePattern,
};

/** The definition of a file that must be right. */
export function definitionOf(text: string, more: Partial<LoadOptions> = {}): Definition {
  const result = loadDefinition(text, { ...options, ...more });
  if (!result.ok)
    throw new Error(result.problems.map(({ path, message }) => `${path}: ${message}`).join("\n"));
  return result.definition;
}

export function problemsOf(text: string, more: Partial<LoadOptions> = {}): readonly Problem[] {
  const result = loadDefinition(text, { ...options, ...more });
  return result.ok ? [] : result.problems;
}

/** `CODE line:column path` of each problem. */
export function summaryOf(text: string, more: Partial<LoadOptions> = {}): string[] {
  return problemsOf(text, more).map(({ code, line, column, path }) => `${code} ${line}:${column} ${path}`);
}

/** `CODE path` of each warning of a file that must be right. */
export function warningsOf(text: string): string[] {
  return fullWarningsOf(text).map(({ code, path }) => `${code} ${path}`);
}

/** The warnings of a file that must be right. */
export function fullWarningsOf(text: string, more: Partial<LoadOptions> = {}): readonly Problem[] {
  const result = loadDefinition(text, { ...options, ...more });
  if (!result.ok)
    throw new Error(result.problems.map(({ path, message }) => `${path}: ${message}`).join("\n"));
  return result.warnings;
}
