import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { filesIn, PAGES } from "./support/document-blocks.js";
import { findParsedProse, PATTERNS_ALLOWED, WORDS_OF_OTHERS } from "./support/prose-rules.js";
import { repositoryRoot } from "./support/repository-root.js";
import { isTestFile, type SourceText } from "./support/source-imports.js";

function sources(): SourceText[] {
  const listing = execFileSync("git", ["ls-files", "-co", "--exclude-standard", "src"], {
    cwd: repositoryRoot,
    encoding: "utf8",
  });
  return listing
    .split("\n")
    .filter((path) => path.endsWith(".ts") && !isTestFile(path))
    .map((path) => ({ path, text: readFileSync(join(repositoryRoot, path), "utf8") }));
}

const inReport = (text: string): string[] => findParsedProse([{ path: "src/tell/a.ts", text }]);

describe("our own words are never data", () => {
  it("nothing in src looks for a pattern or a sentence in them", () => {
    expect(findParsedProse(sources())).toEqual([]);
  });

  it("every exception is still needed", () => {
    const files = sources();
    for (const { path } of [...PATTERNS_ALLOWED, ...WORDS_OF_OTHERS]) {
      const text = files.find((file) => file.path === path)?.text;
      expect(text, path).toBeDefined();
      const elsewhere = PATTERNS_ALLOWED.some((each) => each.path === path) ? "src/tell/b.ts" : "src/b.ts";
      expect(findParsedProse([{ path: elsewhere, text: text! }]), path).not.toEqual([]);
    }
  });
});

describe("the rule", () => {
  it("finds patterns where sentences are made", () => {
    expect(inReport("const PLAIN = /^the run goes on$/;")).toEqual([
      "src/tell/a.ts:1 has the pattern /^the run goes on$/",
    ]);
    expect(inReport("new RegExp(word)")).toHaveLength(1);
    expect(findParsedProse([{ path: "src/run/engine/a.ts", text: "/a b/.test(c)" }])).toEqual([]);
  });

  it("finds sentences that a text is compared with, anywhere", () => {
    expect(inReport('if (reason === "the run goes on") stop();')).toEqual([
      'src/tell/a.ts:1 compares with "the run goes on"',
    ]);
    // biome-ignore lint/suspicious/noTemplateCurlyInString: this is the text of a source file
    expect(inReport("note.text.startsWith(`run ${run.id} `)")).toHaveLength(1);
    expect(
      findParsedProse([{ path: "src/run/engine/a.ts", text: 'text.includes("no retries left")' }]),
    ).toHaveLength(1);
  });

  it("lets kinds be compared", () => {
    expect(inReport('if (kind === "not_configured" || name.startsWith("root/")) stop();')).toEqual([]);
  });
});

describe("what people read", () => {
  /** Newcomers stumbled over these in our own pages. */
  const UNCLEAR = [
    /\bin words\b/,
    /\bbecame of it\b/,
    /\bnobody hears\b/,
    /\bhears? nothing of\b/,
    /\bcommand of yours\b/,
    /\bstays done\b/,
    /\b[Ww]hoever\b/,
    /\b(?:made|built) anew\b/,
    /\bat every door\b/,
  ];
  /** They quote what was changed. */
  const QUOTING = new Set(["docs/decisions.md"]);

  it("has no phrase that is known to be unclear", () => {
    const pages = [...PAGES, ...filesIn("examples", ".yaml")].filter((page) => !QUOTING.has(page));
    const found = pages.flatMap((page) => {
      const text = readFileSync(join(repositoryRoot, page), "utf8").replace(/\s+/g, " ");
      return UNCLEAR.flatMap((phrase) => (phrase.test(text) ? [`${page}: ${phrase.source}`] : []));
    });
    expect(found).toEqual([]);
  });
});
