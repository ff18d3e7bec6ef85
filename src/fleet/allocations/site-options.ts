import { refuse } from "./check-spec.js";
import type { Refusal } from "./provider.js";

/** An option such as `--constraint=avx512`, `-P genomics` or `--exclusive`. */
interface SiteOption {
  readonly name: string;
  readonly words: readonly string[];
}

/**
 * Splits the site's options into arguments, which no shell sees. Refuses an option that Daruma sets itself, also if
 * abbreviated: getopt accepts `--exp` for `--export`.
 */
export function readSiteOptions(
  options: readonly string[],
  reserved: ReadonlySet<string>,
  style: "getopt" | "single-dash",
): readonly string[] | Refusal {
  const words: string[] = [];
  for (const text of options) {
    const option = readOption(text);
    if (option === null)
      return refuse("BAD_OPTION", `${JSON.stringify(text)} is not an option; write --name=value or -x value`);
    if (isReserved(option.name, reserved, style))
      return refuse("BAD_OPTION", `${option.name} is set by Daruma and cannot be an extra option`);
    words.push(...option.words);
  }
  return words;
}

function readOption(text: string): SiteOption | null {
  if (text.includes("\0")) return null;
  const match = /^(--?[A-Za-z][A-Za-z0-9_-]*)(?:(=[\s\S]*)|[ \t]+([^\s-][\s\S]*))?$/.exec(text);
  if (match === null) return null;
  const [, name = "", joined, separate] = match;
  if (joined !== undefined) return { name, words: [text] };
  return { name, words: separate === undefined ? [name] : [name, separate] };
}

function isReserved(name: string, reserved: ReadonlySet<string>, style: "getopt" | "single-dash"): boolean {
  if (style === "single-dash") return reserved.has(name);
  // `-Jname` means `-J` with the value `name`.
  if (!name.startsWith("--")) return reserved.has(name.slice(0, 2));
  return [...reserved].some((long) => long.startsWith("--") && long.startsWith(name));
}
