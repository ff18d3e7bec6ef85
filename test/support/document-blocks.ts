import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { repositoryRoot } from "./repository-root.js";

/** A block of a page between fences, with the notes that stand in comments before it: `<!-- not run: needs a server -->`. */
export interface Block {
  readonly language: string;
  readonly text: string;
  /** Of its first line. */
  readonly line: number;
  readonly notes: { readonly [name: string]: string };
}

const FENCED = /((?:^<!-- [^\n]*? -->\n)*)^```(\w*)\n(.*?)^```$/gms;
const NOTE = /^<!-- ([\w ]+?)(?:: (.*?))? -->$/gm;

export function blocksOf(page: string): Block[] {
  const document = readFileSync(join(repositoryRoot, page), "utf8");
  return [...document.matchAll(FENCED)].map((match) => {
    const [, comments = "", language = "", text = ""] = match;
    const before = document.slice(0, match.index + comments.length);
    const notes = [...comments.matchAll(NOTE)].map(([, name = "", value = ""]) => [name, value] as const);
    return { language, text, line: before.split("\n").length + 1, notes: Object.fromEntries(notes) };
  });
}

export function filesIn(folder: string, ending: string): string[] {
  return readdirSync(join(repositoryRoot, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(ending))
    .map((name) => join(folder, name))
    .sort();
}

/** Every page that users or contributors read. */
export const PAGES: readonly string[] = [
  ...["README.md", "CONTRIBUTING.md", "SECURITY.md"],
  ...filesIn("docs", ".md"),
];
