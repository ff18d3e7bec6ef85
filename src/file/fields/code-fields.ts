import { MAX_EXPRESSION_BYTES } from "../../core/model/definition.js";
import type { Path } from "../read/path.js";
import { type NamesInText, type PlacedText, placeInText } from "../read/placed-text.js";
import type { SyntaxProblem } from "../read/problem.js";
import { mapped, type ReadContext, type Schema, union } from "../read/schema.js";
import { boolean, type TextOptions, text } from "../read/schema-scalars.js";
import type { SourceScalar } from "../read/source-tree.js";

const utf8 = new TextEncoder();

type CheckText = NonNullable<TextOptions["check"]>;

/** Text that may hold Liquid; compiled at load so that a slip shows before the run. */
export const checkTemplateText: CheckText = (text, node, path, context) =>
  checkTemplate({ language: "template", text, node, path }, context);

/** A command line of a shell, with Liquid in it. */
export function shellLine(): Schema<string, string> {
  const check: CheckText = (line, node, path, context) =>
    checkTemplate({ language: "template", text: line, node, path, shell: true }, context);
  return text({ expected: "a shell command", check });
}

export function checkTemplate(given: PlacedText, context: ReadContext): void {
  const { text } = given;
  if (!text.includes("{{") && !text.includes("{%")) return;
  const problem = context.checkTemplate(text);
  if (problem !== null) reportSyntax("TEMPLATE_SYNTAX", problem, given, context);
  else noteNames(given, context.findNames?.inTemplate(text), context);
}

/** A JavaScript expression of the routing keys: compiled, and bounded in size. `more` are names that only it may use. */
export function expression(more: readonly string[] = []): Schema<string, string> {
  return text({
    expected: "a JavaScript expression",
    check(code, node, path, context) {
      const bytes = code.length > MAX_EXPRESSION_BYTES ? code.length : utf8.encode(code).length;
      if (bytes > MAX_EXPRESSION_BYTES) {
        const message = `the expression has ${bytes} bytes, more than ${MAX_EXPRESSION_BYTES}`;
        context.findings.error({ code: "EXPRESSION_TOO_LONG", message, at: node.at, path });
      } else checkCode(code, node, path, context, more);
    },
  });
}

/** `if: false` switches a step off; YAML reads that as a boolean. */
export function condition(more: readonly string[] = []): Schema<string, string | boolean> {
  return union(expression(more), mapped(boolean(), String));
}

/** JavaScript of a `script` step: compiled, of any size. */
export function script(): Schema<string, string> {
  return text({ expected: "JavaScript", check: (...text) => checkCode(...text) });
}

function checkCode(
  code: string,
  node: SourceScalar,
  path: Path | null,
  context: ReadContext,
  more: readonly string[] = [],
): void {
  const problem = context.checkExpression(code);
  const given: PlacedText = { language: "expression", text: code, node, path, more };
  if (problem !== null) reportSyntax("EXPRESSION_SYNTAX", problem, given, context);
  else noteNames(given, context.findNames?.inExpression(code), context);
}

function noteNames(given: PlacedText, names: NamesInText | null | undefined, { texts }: ReadContext): void {
  if (names == null) return;
  const { reads, prints, literals } = names;
  if (reads.length + prints.length + literals.length > 0) texts.push({ ...given, names });
}

export function reportSyntax(
  code: "EXPRESSION_SYNTAX" | "TEMPLATE_SYNTAX",
  { message, line, column = 1 }: SyntaxProblem,
  given: PlacedText,
  context: ReadContext,
): void {
  const { node, path, text } = given;
  const inside = line === undefined ? null : placeInText(given, offsetOfPlace(text, line, column));
  context.findings.error({ code, message, at: node.at, path, inside });
}

function offsetOfPlace(text: string, line: number, column: number): number {
  let start = 0;
  for (let at = 1; at < line; at++) start = text.indexOf("\n", start) + 1;
  return start + column - 1;
}
