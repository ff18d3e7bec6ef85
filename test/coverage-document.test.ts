import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readCoverage } from "./support/coverage-rows.js";
import { findFalseClaims } from "./support/coverage-rules.js";
import { repositoryRoot } from "./support/repository-root.js";

function readText(path: string): string | null {
  const file = join(repositoryRoot, path);
  if (!existsSync(file)) return null;
  return statSync(file).isDirectory() ? "" : readFileSync(file, "utf8");
}

/** Suites that several test files share are no test files by their name. */
function listTestFiles(): string[] {
  return ["src", "test", "web"].flatMap((folder) =>
    readdirSync(join(repositoryRoot, folder), { recursive: true, encoding: "utf8" })
      .map((name) => `${folder}/${name}`)
      .filter((path) => /(?:\.test|-contract)\.ts$/.test(path)),
  );
}

describe("docs/coverage.md", () => {
  const rows = readCoverage(readFileSync(join(repositoryRoot, "docs/coverage.md"), "utf8"));

  it("lists the requirements of all five designs, and of what was added since", () => {
    const letters = new Set(rows.map((row) => row.id.slice(0, 1)));
    expect([...letters].sort().join("")).toBe("ABCDGHKLMNPRSTUVW");
    expect(rows.length).toBeGreaterThan(200);
  });

  it("claims nothing that the repository does not bear out", () => {
    expect(findFalseClaims(rows, { testFiles: listTestFiles(), readText })).toEqual([]);
  });
});

describe("the rule of coverage", () => {
  const TEST = "test/a.test.ts";
  const row = (id: string, tests: string, state: string) =>
    `| ${id} | works | \`src/core\` | ${tests} | ${state} |`;
  const claims = (document: string, texts: Readonly<Record<string, string>>) =>
    findFalseClaims(readCoverage(document), {
      testFiles: Object.keys(texts),
      readText: (path) => (path === "src/core" ? "" : (texts[path] ?? null)),
    });
  const tagged = (tag: string) => `it("works", { tags: ["${tag}"] }, () => {});`;

  it("accepts a done row whose id is a tag of a test, and rows that claim nothing", () => {
    expect(claims(row("V1", `\`${TEST}\``, "done"), { [TEST]: tagged("V1") })).toEqual([]);
    expect(claims(row("V1", "`test/b.test.ts`", "in progress"), {})).toEqual([]);
    expect(claims(row("V1", "", "planned: ladder, self-heal"), {})).toEqual([]);
  });

  it("refuses a done row whose test is missing, has another tag, or is not named", () => {
    const done = row("V1", `\`${TEST}\``, "done");
    expect(claims(done, {})).toEqual([`V1 names ${TEST}, which is not there`]);
    expect(claims(`${done}\n${row("V2", `\`${TEST}\``, "in progress")}`, { [TEST]: tagged("V2") })).toEqual([
      `V1 is done, but no test of ${TEST} has it as a tag`,
    ]);
    expect(claims(row("V1", "", "done"), {})).toEqual(["V1 is done without a test"]);
  });

  it("refuses an id that stands elsewhere than in the tags of a test that runs", () => {
    for (const text of [
      'it("works", () => {}); // V1',
      'it("works", () => { check({ tags: ["V1"] }); });',
      'describe("all", { tags: ["V1"] }, () => { it("works", () => {}); });',
      'it("works", { tags: [V1] }, () => {});',
      'it.skip("works", { tags: ["V1"] }, () => {});',
      'it.todo("works", { tags: ["V1"] });',
    ])
      expect(claims(row("V1", `\`${TEST}\``, "done"), { [TEST]: text }), text).toEqual([
        `V1 is done, but no test of ${TEST} has it as a tag`,
      ]);
  });

  it("finds the tags of any kind of test", () => {
    for (const text of [
      'test("works", { tags: ["V1"] }, () => {});',
      'it("works", { timeout: 5, tags: ["V1"] }, () => {});',
      "it(`works on $" + '{place}`, { tags: ["V1"] }, () => {});',
      'describe("all", () => { it.skipIf(isRoot)("works", { tags: ["V1"] }, () => {}); });',
      'it.each([[1], [2]])("works with %i", { tags: ["V1"] }, () => {});',
    ])
      expect(claims(row("V1", `\`${TEST}\``, "done"), { [TEST]: text }), text).toEqual([]);
  });

  it("asks every file that a row names, and every tag for a row that names its file", () => {
    const texts = { [TEST]: tagged("V1"), "test/b.test.ts": 'it("works, too", () => {});' };
    const both = row("V1", `\`${TEST}\`, \`test/b.test.ts\``, "done");
    expect(claims(both, texts)).toEqual(["V1 is done, but no test of test/b.test.ts has it as a tag"]);
    expect(claims(row("V1", "", "planned: page"), texts)).toEqual([
      `${TEST} has a test with the tag V1, whose row does not name the file`,
    ]);
    expect(claims("", texts)).toHaveLength(1);
  });

  it("refuses an id in a title", () => {
    const text = `${tagged("V1")}\nit("V1 works", () => {});`;
    expect(claims(row("V1", `\`${TEST}\``, "done"), { [TEST]: text })).toEqual([
      `${TEST} has an id in the title "V1 works": make it a tag`,
    ]);
  });

  it("refuses a done row whose place is missing", () => {
    const document = row("V1", `\`${TEST}\``, "done").replace("src/core", "src/gone.ts");
    expect(claims(document, { [TEST]: tagged("V1") })).toEqual(["V1 names src/gone.ts, which is not there"]);
  });

  it("refuses unknown states and gaps in the numbers", () => {
    expect(claims(row("V1", "", "planned: someday"), {})).toHaveLength(1);
    expect(claims(row("V2", "", "planned: page"), {})).toEqual(["V2 stands where V1 is due"]);
  });
});
