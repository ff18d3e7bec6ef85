import type { CoverageRow } from "./coverage-rows.js";
import { readTests } from "./test-tags.js";

const STATE =
  /^(?:done|in progress|planned: (?:ladder|interfaces|self-heal|cluster|page)(?:, (?:interfaces|self-heal))?)$/;
const ID_FIRST = /^[A-Z]\d+\b/;

export interface Repository {
  /** Every file that may have tests in it. */
  readonly testFiles: readonly string[];
  /** Null for what does not exist, and no text for a folder. */
  readText(path: string): string | null;
}

/** What the document claims and the repository does not bear out, and what tests claim and the document does not. */
export function findFalseClaims(rows: readonly CoverageRow[], repository: Repository): string[] {
  const tagged = new Map(
    repository.testFiles.map((file) => [file, readTests(repository.readText(file) ?? "")] as const),
  );
  const tagsIn = new Map(
    [...tagged].map(([file, tests]) => [file, new Set(tests.flatMap(({ tags }) => tags))] as const),
  );
  const violations = checkNumbers(rows);
  for (const row of rows) {
    if (!STATE.test(row.state)) violations.push(`${row.id} has the unknown state "${row.state}"`);
    if (row.state === "done") violations.push(...checkDone(row, repository, tagsIn));
  }
  const known = new Map(rows.map((row) => [row.id, row] as const));
  for (const [file, tags] of tagsIn)
    for (const tag of tags)
      if (!known.get(tag)?.tests.includes(file))
        violations.push(`${file} has a test with the tag ${tag}, whose row does not name the file`);
  for (const [file, tests] of tagged)
    for (const { title } of tests)
      if (known.has(ID_FIRST.exec(title)?.[0] ?? ""))
        violations.push(`${file} has an id in the title "${title}": make it a tag`);
  return violations;
}

function checkNumbers(rows: readonly CoverageRow[]): string[] {
  const violations: string[] = [];
  const counts = new Map<string, number>();
  for (const { id } of rows) {
    const letter = id.slice(0, 1);
    const place = (counts.get(letter) ?? 0) + 1;
    counts.set(letter, place);
    if (id !== `${letter}${place}`) violations.push(`${id} stands where ${letter}${place} is due`);
  }
  return violations;
}

function checkDone(
  { id, tests, where }: CoverageRow,
  { readText }: Repository,
  tagsIn: ReadonlyMap<string, ReadonlySet<string>>,
): string[] {
  const violations: string[] = [];
  if (tests.length === 0) violations.push(`${id} is done without a test`);
  for (const test of tests) {
    if (readText(test) === null) violations.push(`${id} names ${test}, which is not there`);
    else if (tagsIn.get(test)?.has(id) !== true)
      violations.push(`${id} is done, but no test of ${test} has it as a tag`);
  }
  for (const path of where)
    if (path.includes("/") && readText(path) === null)
      violations.push(`${id} names ${path}, which is not there`);
  return violations;
}
