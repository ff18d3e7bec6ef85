import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { repositoryRoot } from "./support/cli.js";
import { findFalseClaims, readCoverage } from "./support/coverage-rules.js";

function readText(path: string): string | null {
  const file = join(repositoryRoot, path);
  if (!existsSync(file)) return null;
  return statSync(file).isDirectory() ? "" : readFileSync(file, "utf8");
}

describe("docs/coverage.md", () => {
  const rows = readCoverage(readFileSync(join(repositoryRoot, "docs/coverage.md"), "utf8"));

  it("lists the requirements of all five designs", () => {
    const letters = new Set(rows.map((row) => row.id.slice(0, 1)));
    expect([...letters].sort()).toEqual(["A", "M", "T", "V", "W"]);
    expect(rows.length).toBeGreaterThan(200);
  });

  it("claims nothing that the repository does not bear out", () => {
    expect(findFalseClaims(rows, readText)).toEqual([]);
  });
});

describe("the rule of coverage", () => {
  const row = (id: string, test: string, state: string) =>
    `| ${id} | works | \`src/core\` | ${test} | ${state} |`;
  const claims = (document: string, conformance: string | null) =>
    findFalseClaims(readCoverage(document), (path) => (path === "src/core" ? "" : conformance));

  it("accepts a done row whose id a test carries, and rows that claim nothing", () => {
    expect(claims(row("V1", "`seed-000`", "done"), 'it("V1 works", () => {});')).toEqual([]);
    expect(claims(row("V1", "`seed-000`", "in progress"), null)).toEqual([]);
    expect(claims(row("V1", "", "planned: ladder, self-heal"), null)).toEqual([]);
  });

  it("refuses a done row whose test is missing, carries another id, or is not named", () => {
    expect(claims(row("V1", "`seed-000`", "done"), null)).toHaveLength(1);
    expect(claims(row("V1", "`seed-000`", "done"), 'it("V10 works")')).toHaveLength(1);
    expect(claims(row("V1", "", "done"), 'it("V1 works")')).toEqual(["V1 is done without a test"]);
  });

  it("refuses an id that stands in a comment, in code or in the name of a group", () => {
    for (const text of [
      '// V1\nit("works", () => {});',
      'it("works", () => { expect("V1 works").toBe(1); });',
      'describe("V1", () => { it("works", () => {}); });',
      "it(`$" + "{V1} works`, () => {});",
      'it.skip("V1 works", () => {});',
      'it.todo("V1 works");',
    ])
      expect(claims(row("V1", "`test/a.test.ts`", "done"), text), text).toEqual([
        "V1 is done, but no test of test/a.test.ts has it in its title",
      ]);
  });

  it("finds an id in the title of any kind of test, also by the first column of its table", () => {
    for (const text of [
      'test("V1 works", () => {});',
      "it(`on $" + "{place} V1 works`, () => {});",
      'describe("all", () => { it.skipIf(isRoot)("V1 works", () => {}); });',
      'it.each([[1], [2]])("V1 works with %i", () => {});',
      'it.each([["V1 first", 1], ["V2 second", 2]] as const)("%s works", () => {});',
      'it.each(["V1 first", "V2 second"])("%s works", () => {});',
    ])
      expect(claims(row("V1", "`test/a.test.ts`", "done"), text), text).toEqual([]);
  });

  it("refuses an id in a table whose first column is not what the title begins with", () => {
    const table = 'it.each([["V1", 1]])("works with %s", () => {});';
    expect(claims(row("V1", "`test/a.test.ts`", "done"), table)).toHaveLength(1);
    const second = 'it.each([["first", "V1"]])("%s works", () => {});';
    expect(claims(row("V1", "`test/a.test.ts`", "done"), second)).toHaveLength(1);
  });

  it("refuses an id in the title of another file than the row names, and asks every file that it names", () => {
    const texts: Record<string, string> = {
      "src/core": "",
      "test/a.test.ts": 'it("V1 works", () => {});',
      "test/b.test.ts": 'it("works, too", () => {});',
    };
    const falseOf = (tests: string) =>
      findFalseClaims(readCoverage(row("V1", tests, "done")), (path) => texts[path] ?? null);
    expect(falseOf("`test/a.test.ts`")).toEqual([]);
    expect(falseOf("`test/b.test.ts`")).toEqual([
      "V1 is done, but no test of test/b.test.ts has it in its title",
    ]);
    expect(falseOf("`test/a.test.ts`, `test/b.test.ts`")).toHaveLength(1);
    expect(falseOf("`test/a.test.ts`, `test/c.test.ts`")).toEqual([
      "V1 names test/c.test.ts, which is not there",
    ]);
  });

  it("refuses a done row whose place is missing", () => {
    const document = row("V1", "`seed-000`", "done").replace("src/core", "src/gone.ts");
    const readOnlySuite = (path: string) => (path === "src/gone.ts" ? null : 'it("V1 works")');
    expect(findFalseClaims(readCoverage(document), readOnlySuite)).toEqual([
      "V1 names src/gone.ts, which is not there",
    ]);
  });

  it("refuses unknown states and gaps in the numbers", () => {
    expect(claims(row("V1", "", "planned: someday"), null)).toHaveLength(1);
    expect(claims(row("V2", "", "planned: page"), null)).toEqual(["V2 stands where V1 is due"]);
  });
});
