// Writes docs/errors.md from the catalogue in src/core/errors/errors.ts. `--check` only says whether it is up to date.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const catalogueFile = join(root, "src/core/errors/errors.ts");
const documentFile = join(root, "docs/errors.md");
const entrySource = readFileSync(join(root, "src/core/errors/catalogue-entry.ts"), "utf8");
const { outputText } = ts.transpileModule(entrySource, { compilerOptions: { module: ts.ModuleKind.ESNext } });
const makers = await import(`data:text/javascript,${encodeURIComponent(outputText)}`);

/** The sections of the catalogue in its own order: a line comment opens one. */
function readSections() {
  const sections = [];
  for (const { comments, rows } of readTable(catalogueFile, "ERROR_CATALOGUE")) {
    for (const title of comments) sections.push({ title, rows: [] });
    sections.at(-1).rows.push(...rows);
  }
  return sections;
}

/** The entries of a table, each with the comments before it. `...NAME` stands for the table of that name in `name.ts`. */
function readTable(file, name) {
  const text = readFileSync(file, "utf8");
  const tree = ts.createSourceFile(file, text, ts.ScriptTarget.ES2023, true);
  const entries = [];
  const visit = (node) => {
    if (!ts.isVariableDeclaration(node) || node.name.getText() !== name) return ts.forEachChild(node, visit);
    for (const property of findObject(node.initializer).properties) {
      const comments = (ts.getLeadingCommentRanges(text, property.getFullStart()) ?? []).map(({ pos, end }) =>
        text.slice(pos, end).replace(/^\/\/\s*/, ""),
      );
      entries.push({ comments, rows: rowsOf(file, property) });
    }
  };
  visit(tree);
  return entries;
}

function rowsOf(file, property) {
  if (ts.isSpreadAssignment(property)) {
    const table = property.expression.getText();
    const other = join(dirname(file), `${table.toLowerCase().replaceAll("_", "-")}.ts`);
    return readTable(other, table).flatMap(({ rows }) => rows);
  }
  const { means, next } = readEntry(property.initializer);
  return [{ code: property.name.getText(), means: inCell(means), next: inCell(next) }];
}

/** An object, or the call of a function in `catalogue-entry.ts` that makes one. */
function readEntry(node) {
  if (ts.isCallExpression(node))
    return makers[node.expression.getText()](...node.arguments.map(({ text }) => text));
  return Object.fromEntries(
    node.properties.map(({ name, initializer }) => [name.getText(), initializer.text]),
  );
}

function findObject(node) {
  return ts.isObjectLiteralExpression(node) ? node : findObject(node.expression);
}

function inCell(text) {
  return text.replaceAll("|", "\\|");
}

function render(sections) {
  const parts = [
    "# Error codes",
    "",
    "Every code that Daruma shows, what it means and what to do next. Codes are stable: programs may match on them.",
    "A step that exits with a code other than 0 fails with `EXIT_<n>`, an HTTP step with the status (`503`); a step may",
    "also give a code of its own through the file `$DARUMA_FAILURE`. Those are not listed here.",
    "",
    "This page is made from `src/core/errors/errors.ts` by `npm run docs:errors`.",
    "",
  ];
  for (const section of sections) {
    parts.push(`## ${section.title}`, "", "| code | means | what to do next |", "|---|---|---|");
    for (const row of section.rows) parts.push(`| \`${row.code}\` | ${row.means} | ${row.next} |`);
    parts.push("");
  }
  return parts.join("\n");
}

const document = render(readSections());
const present = existsSync(documentFile) ? readFileSync(documentFile, "utf8") : "";
if (process.argv.includes("--check")) {
  const same = present === document;
  console.log(same ? "docs/errors.md is up to date" : "docs/errors.md is out of date: npm run docs:errors");
  process.exit(same ? 0 : 1);
}
if (present !== document) writeFileSync(documentFile, document);
