// Writes docs/errors.md from the catalogue in src/core/errors/errors.ts. `--check` only says whether it is up to date.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const catalogueFile = join(root, "src/core/errors/errors.ts");
const documentFile = join(root, "docs/errors.md");
const source = readFileSync(catalogueFile, "utf8");
const { outputText } = ts.transpileModule(source, { compilerOptions: { module: ts.ModuleKind.ESNext } });
const tables = await import(`data:text/javascript,${encodeURIComponent(outputText)}`);

/** The sections of the catalogue in its own order: a line comment opens one. */
function readSections() {
  const sections = [];
  for (const property of findCatalogue().properties) {
    for (const { pos, end } of ts.getLeadingCommentRanges(source, property.getFullStart()) ?? [])
      sections.push({ title: source.slice(pos, end).replace(/^\/\/\s*/, ""), rows: [] });
    sections.at(-1).rows.push(...codesOf(property).map(readRow));
  }
  return sections;
}

function findCatalogue() {
  const tree = ts.createSourceFile(catalogueFile, source, ts.ScriptTarget.ES2023, true);
  const declarations = tree.statements
    .filter(ts.isVariableStatement)
    .flatMap((statement) => [...statement.declarationList.declarations]);
  return findObject(declarations.find(({ name }) => name.getText() === "ERROR_CATALOGUE").initializer);
}

/** `...NAME` stands for all codes of the table of that name. */
function codesOf(property) {
  if (ts.isSpreadAssignment(property)) return Object.keys(tables[property.expression.getText()]);
  return [property.name.getText()];
}

function readRow(code) {
  const { means, next } = tables.ERROR_CATALOGUE[code];
  return { code, means: inCell(means), next: inCell(next) };
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
