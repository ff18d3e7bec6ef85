import { MAX_EXPRESSION_BYTES } from "../core/definition.js";
import type { Path } from "./path.js";
import type { SyntaxProblem } from "./problem.js";
import { mapped, type ReadContext, type Schema, union } from "./schema.js";
import { boolean, text } from "./schema-scalars.js";
import type { SourceScalar } from "./source-tree.js";

const utf8 = new TextEncoder();

/** Text that may hold Liquid; compiled at load so that a slip shows before the run. */
export function checkTemplateText(
  template: string,
  node: SourceScalar,
  path: Path | null,
  context: ReadContext,
): void {
  if (!template.includes("{{") && !template.includes("{%")) return;
  const problem = context.checkTemplate(template);
  if (problem !== null) reportSyntax("TEMPLATE_SYNTAX", problem, node, path, context);
}

/** A JavaScript expression of the routing keys: compiled, and bounded in size. */
export function expression(): Schema<string> {
  return text({
    expected: "a JavaScript expression",
    check(code, node, path, context) {
      const bytes = code.length > MAX_EXPRESSION_BYTES ? code.length : utf8.encode(code).length;
      if (bytes > MAX_EXPRESSION_BYTES) {
        const message = `the expression has ${bytes} bytes, more than ${MAX_EXPRESSION_BYTES}`;
        context.findings.error({ code: "EXPRESSION_TOO_LONG", message, at: node.at, path });
      } else checkCode(code, node, path, context);
    },
  });
}

/** `if: false` switches a step off; YAML reads that as a boolean. */
export function condition(): Schema<string> {
  return union(expression(), mapped(boolean(), String));
}

/** JavaScript of a `script` step: compiled, of any size. */
export function script(): Schema<string> {
  return text({ expected: "JavaScript", check: checkCode });
}

function checkCode(code: string, node: SourceScalar, path: Path | null, context: ReadContext): void {
  const problem = context.checkExpression(code);
  if (problem !== null) reportSyntax("EXPRESSION_SYNTAX", problem, node, path, context);
}

function reportSyntax(
  code: "EXPRESSION_SYNTAX" | "TEMPLATE_SYNTAX",
  problem: SyntaxProblem,
  node: SourceScalar,
  path: Path | null,
  context: ReadContext,
): void {
  const inside =
    problem.line === undefined ? null : { scalar: node, line: problem.line, column: problem.column ?? 1 };
  context.findings.error({ code, message: problem.message, at: node.at, path, inside });
}
