import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { repositoryRoot } from "../support/repository-root.js";
import { readTests } from "../support/test-tags.js";

interface Mutant {
  readonly what: string;
  readonly rows?: string;
  readonly tests?: string;
  readonly file: string;
  readonly find: string;
  readonly put: string;
  readonly suite: string;
}

const read = (path: string): string => readFileSync(join(repositoryRoot, path), "utf8");
const mutants = parse(read("test/mutation/mutants.yaml")) as readonly Mutant[];

/** `npm run mutate` needs minutes; that the list fits the code is seen here, with every run of the tests. */
describe("the named mutants", () => {
  it("are many, each with a text of its own", () => {
    expect(mutants.length).toBeGreaterThan(60);
    expect(new Set(mutants.map(({ what }) => what)).size).toBe(mutants.length);
  });

  it.each(mutants.map((mutant) => [mutant.what, mutant] as const))("%s: fits its file", (_, mutant) => {
    expect(read(mutant.file).split(mutant.find)).toHaveLength(2);
    expect(mutant.put).not.toBe(mutant.find);
    expect(existsSync(join(repositoryRoot, mutant.suite))).toBe(true);
    const tags = readTests(read(mutant.suite)).flatMap((test) => test.tags);
    if (mutant.tests === undefined)
      expect(tags).toEqual(expect.arrayContaining(mutant.rows?.split(" ") ?? []));
  });
});
