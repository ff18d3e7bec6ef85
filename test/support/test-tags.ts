import ts from "typescript";

const RUNNERS: ReadonlySet<string> = new Set(["it", "test"]);
/** A test behind one of these does not run. */
const NOT_RUN: ReadonlySet<string> = new Set(["skip", "todo"]);

export interface TaggedTest {
  /** What is put into a template or a table is left out. */
  readonly title: string;
  readonly tags: readonly string[];
}

/**
 * The tests of a file: calls of `it` and `test`, whatever stands between (`it.each(table)`, `it.skipIf(condition)`).
 * Only the tags that a test has itself are told, not those of its group: a row is shown by the tests that say so.
 */
export function readTests(text: string): TaggedTest[] {
  const tests: TaggedTest[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node)) {
      const test = testOf(node);
      if (test !== null) tests.push(test);
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile("test.ts", text, ts.ScriptTarget.Latest));
  return tests;
}

function testOf(call: ts.CallExpression): TaggedTest | null {
  const [runner, ...rest] = namesOf(call.expression);
  const [first, second] = call.arguments;
  if (runner === undefined || first === undefined) return null;
  if (!RUNNERS.has(runner) || rest.some((name) => NOT_RUN.has(name))) return null;
  const title = wordsOf(first);
  return title === null ? null : { title, tags: second === undefined ? [] : tagsOf(second) };
}

/** `it.each(table)` is `["it", "each"]`. */
function namesOf(expression: ts.Expression): string[] {
  if (ts.isIdentifier(expression)) return [expression.text];
  if (ts.isPropertyAccessExpression(expression))
    return [...namesOf(expression.expression), expression.name.text];
  return ts.isCallExpression(expression) ? namesOf(expression.expression) : [];
}

function wordsOf(expression: ts.Expression): string | null {
  if (ts.isStringLiteralLike(expression)) return expression.text;
  if (!ts.isTemplateExpression(expression)) return null;
  return [expression.head, ...expression.templateSpans.map(({ literal }) => literal)]
    .map(({ text }) => text)
    .join("…");
}

function tagsOf(options: ts.Expression): string[] {
  if (!ts.isObjectLiteralExpression(options)) return [];
  for (const property of options.properties) {
    if (!ts.isPropertyAssignment(property) || !ts.isIdentifier(property.name)) continue;
    if (property.name.text !== "tags" || !ts.isArrayLiteralExpression(property.initializer)) continue;
    return property.initializer.elements.flatMap((tag) => (ts.isStringLiteralLike(tag) ? [tag.text] : []));
  }
  return [];
}
