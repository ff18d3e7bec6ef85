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
    expect(claims(row("V1", "`seed-000`", "done"), 'it("V1 works")')).toEqual([]);
    expect(claims(row("V1", "`seed-000`", "in progress"), null)).toEqual([]);
    expect(claims(row("V1", "", "planned: ladder, self-heal"), null)).toEqual([]);
  });

  it("refuses a done row whose test is missing, carries another id, or is not named", () => {
    expect(claims(row("V1", "`seed-000`", "done"), null)).toHaveLength(1);
    expect(claims(row("V1", "`seed-000`", "done"), 'it("V10 works")')).toHaveLength(1);
    expect(claims(row("V1", "", "done"), 'it("V1 works")')).toEqual(["V1 is done without a test"]);
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
