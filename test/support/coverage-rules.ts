import { readTestTitles } from "./test-titles.js";

/** One row of docs/coverage.md. */
export interface CoverageRow {
  readonly id: string;
  readonly where: string;
  readonly test: string;
  readonly state: string;
}

const STATE =
  /^(?:done|in progress|planned: (?:ladder|doors|self-heal|cluster|page)(?:, (?:doors|self-heal))?)$/;
/** Test columns that stand for a suite whose tests carry the ids in their names. */
const SUITES: ReadonlyMap<string, readonly string[]> = new Map([
  suite(
    "seed-000",
    "retry goto remediation loop-budget dynamic-routing on-success variables foreach options file command-line",
  ),
  suite("seed-001", "retry failure-routing real"),
  suite("seed-002", "rules holds real rest"),
  suite("seed-003", "edges loops conditions context cancel"),
]);

function suite(name: string, topics: string): [string, string[]] {
  return [name, topics.split(" ").map((topic) => `test/conformance/${name}-${topic}.test.ts`)];
}

export function readCoverage(document: string): CoverageRow[] {
  return [...document.matchAll(/^\| ([A-Z]\d+) \|(.*)\|$/gm)].map((match) => {
    const cells = (match[2] ?? "").split(/(?<!\\)\|/).map((cell) => cell.trim());
    return { id: match[1] ?? "", where: cells[1] ?? "", test: cells[2] ?? "", state: cells[3] ?? "" };
  });
}

/** What the document claims and the repository does not bear out. `readText` gives null for what does not exist. */
export function findFalseClaims(
  rows: readonly CoverageRow[],
  readText: (path: string) => string | null,
): string[] {
  const violations: string[] = [];
  const titles = new TitleShelf(readText);
  const counts = new Map<string, number>();
  for (const row of rows) {
    const letter = row.id.slice(0, 1);
    const place = (counts.get(letter) ?? 0) + 1;
    counts.set(letter, place);
    if (row.id !== `${letter}${place}`) violations.push(`${row.id} stands where ${letter}${place} is due`);
    if (!STATE.test(row.state)) violations.push(`${row.id} has the unknown state "${row.state}"`);
    if (row.state === "done") violations.push(...checkDone(row, readText, titles));
  }
  return violations;
}

function checkDone(
  row: CoverageRow,
  readText: (path: string) => string | null,
  titles: TitleShelf,
): string[] {
  const violations: string[] = [];
  const tests = quotedNames(row.test);
  if (tests.length === 0) violations.push(`${row.id} is done without a test`);
  for (const test of tests) {
    const files = SUITES.get(test) ?? [test];
    const missing = files.find((file) => readText(file) === null);
    if (missing !== undefined) violations.push(`${row.id} names ${missing}, which is not there`);
    else if (!files.some((file) => titles.hasWord(file, row.id)))
      violations.push(`${row.id} is done, but no test of ${test} has it in its title`);
  }
  for (const path of quotedNames(row.where)) {
    if (path.includes("/") && readText(path) === null)
      violations.push(`${row.id} names ${path}, which is not there`);
  }
  return violations;
}

/** The words of the titles in each file. Many rows name the same file, and reading one takes a parser. */
class TitleShelf {
  private readonly words = new Map<string, ReadonlySet<string>>();

  constructor(private readonly readText: (path: string) => string | null) {}

  hasWord(file: string, word: string): boolean {
    let words = this.words.get(file);
    if (words === undefined) {
      words = new Set(readTestTitles(this.readText(file) ?? "").flatMap((title) => title.split(/\W+/)));
      this.words.set(file, words);
    }
    return words.has(word);
  }
}

function quotedNames(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? "");
}
