import ts from "typescript";

const RUNNERS: ReadonlySet<string> = new Set(["it", "test"]);
/** A test behind one of these does not run. */
const NOT_RUN: ReadonlySet<string> = new Set(["skip", "todo"]);

/**
 * The titles of the tests in a file: the first argument of `it` and `test`, whatever stands between (`it.each(table)`,
 * `it.skipIf(condition)`). A title that begins with `%s` is one title for each row of its table, by the row's first column.
 * Comments, code and the values put into a template are no titles.
 */
export function readTestTitles(text: string): string[] {
  const titles: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node)) titles.push(...titlesOf(node));
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile("test.ts", text, ts.ScriptTarget.Latest));
  return titles;
}

function titlesOf(call: ts.CallExpression): string[] {
  const [runner, ...rest] = namesOf(call.expression);
  const [argument] = call.arguments;
  if (runner === undefined || argument === undefined) return [];
  if (!RUNNERS.has(runner) || rest.some((name) => NOT_RUN.has(name))) return [];
  const title = wordsOf(argument);
  if (title === null) return [];
  if (!title.startsWith("%s")) return [title];
  return firstColumn(tableOf(call.expression)).map((first) => first + title.slice("%s".length));
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

function tableOf(expression: ts.Expression): ts.Expression | null {
  return ts.isCallExpression(expression) ? (expression.arguments[0] ?? null) : null;
}

function firstColumn(table: ts.Expression | null): string[] {
  return rowsOf(table).flatMap((row) => {
    const [first = row] = rowsOf(row);
    const words = wordsOf(first);
    return words === null ? [] : [words];
  });
}

function rowsOf(table: ts.Expression | null): readonly ts.Expression[] {
  if (table === null) return [];
  if (ts.isAsExpression(table)) return rowsOf(table.expression);
  return ts.isArrayLiteralExpression(table) ? table.elements : [];
}
