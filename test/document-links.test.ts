import { existsSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, expect, it } from "vitest";
import { filesIn, PAGES } from "./support/document-blocks.js";
import { repositoryRoot } from "./support/repository-root.js";

const ALL_PAGES = [...new Set([...PAGES, "CHANGELOG.md", ...filesIn(".github", ".md")])];
const FENCES = /^```.*?^```$/gms;
const LINK = /\]\(([^)\s]+)\)/g;
const ELSEWHERE = /^[a-z]+:/i;

interface Link {
  readonly page: string;
  readonly line: number;
  readonly written: string;
  /** From the root of the repository. */
  readonly file: string;
  readonly heading: string | undefined;
}

/** Code holds no links and no headings; its lines are kept, so that those after it keep their numbers. */
function proseOf(page: string): string {
  const text = readFileSync(join(repositoryRoot, page), "utf8");
  return text.replace(FENCES, (block) => block.replace(/[^\n]/g, ""));
}

function linksOf(page: string): Link[] {
  return proseOf(page)
    .split("\n")
    .flatMap((text, index) =>
      [...text.replace(/`[^`]*`/g, "``").matchAll(LINK)]
        .map(([, written = ""]) => written)
        .filter((written) => !ELSEWHERE.test(written))
        .map((written) => {
          const [path = "", heading] = written.split("#");
          const file = path === "" ? page : normalize(join(dirname(page), path));
          return { page, line: index + 1, written, file, heading };
        }),
    );
}

/** The names by which GitHub links to the headings of a page: a heading that comes again has its number after it. */
function anchorsOf(page: string): Set<string> {
  const seen = new Map<string, number>();
  const anchors = [...proseOf(page).matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = ""]) => {
    const shown = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").replace(/[`*]/g, "");
    const name = shown
      .trim()
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, "")
      .replaceAll(" ", "-");
    const times = seen.get(name) ?? 0;
    seen.set(name, times + 1);
    return times === 0 ? name : `${name}-${times}`;
  });
  return new Set(anchors);
}

const links = ALL_PAGES.flatMap(linksOf);
const placesOf = (found: readonly Link[]): string[] =>
  found.map(({ page, line, written }) => `${page}:${line} ${written}`);

describe("the links between the pages of the repository", () => {
  it("are found", () => {
    expect(links.length).toBeGreaterThan(200);
  });

  it("lead to files that exist", () => {
    expect(placesOf(links.filter(({ file }) => !existsSync(join(repositoryRoot, file))))).toEqual([]);
  });

  it("lead to headings that exist", () => {
    const toHeadings = links.filter(({ file, heading }) => heading !== undefined && file.endsWith(".md"));
    const anchors = new Map([...new Set(toHeadings.map(({ file }) => file))].map((f) => [f, anchorsOf(f)]));
    expect(placesOf(toHeadings.filter(({ file, heading }) => !anchors.get(file)!.has(heading!)))).toEqual([]);
  });

  it("lead from a page in the npm package only to files in the package", () => {
    const { files } = JSON.parse(readFileSync(join(repositoryRoot, "package.json"), "utf8")) as {
      files: string[];
    };
    const isPackaged = (path: string): boolean =>
      files.some((entry) => path === entry || path.startsWith(`${entry}/`));
    const fromPackage = links.filter(({ page }) => isPackaged(page));
    expect(placesOf(fromPackage.filter(({ file }) => !isPackaged(file)))).toEqual([]);
  });
});
