import { createRequire } from "node:module";
import type { RE2JS } from "re2js";

let re2: typeof import("re2js") | undefined;

/**
 * Regular expressions over names, unanchored. Node's own engine may take for ever on a hostile pattern; this one takes
 * time in proportion to the text, for which it knows no back references and no lookaround.
 */
export class NamePatterns {
  private readonly found = new Map<string, readonly string[]>();

  constructor(private readonly names: readonly string[]) {}

  /** The names that match, in their order; a pattern that many jobs have is looked up once. */
  match(pattern: string): readonly string[] | { readonly problem: string } {
    const known = this.found.get(pattern);
    if (known !== undefined) return known;
    const compiled = compile(pattern);
    if ("problem" in compiled) return compiled;
    const matching = this.names.filter((name) => compiled.matcher(name).find());
    this.found.set(pattern, matching);
    return matching;
  }
}

function compile(pattern: string): RE2JS | { readonly problem: string } {
  re2 ??= createRequire(import.meta.url)("re2js") as typeof import("re2js");
  try {
    return re2.RE2JS.compile(pattern);
  } catch (error) {
    return { problem: (error as Error).message.replace(/^error parsing regexp: /, "") };
  }
}
