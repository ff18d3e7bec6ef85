import type { NameRead, Printed } from "../../read/names-in-text.js";
import { placeInText, type TextWithNames } from "../../read/placed-text.js";
import type { Findings } from "../../read/problem.js";
import { quote } from "../../read/suggest.js";
import { placesInShell, type ShellPlace } from "./shell-quotes.js";

const LIQUID_PART = /\{\{.*?\}\}|\{%.*?%\}/gs;
const SHELL_FILTER = "sh";
/** Filters that give a number, whatever they are given. */
const NUMBER_FILTERS = new Set(
  "abs at_least at_most ceil divided_by floor minus modulo plus round size times".split(" "),
);
/** Values that Daruma makes itself, of letters and digits. */
const SAFE_VALUES = new Set([
  ...["attempt", "visit", "loop", "foreach.index", "foreach.total", "step.id"],
  ...["error", "failure"].flatMap((name) => [`${name}.class`, `${name}.exitCode`, `${name}.exit_code`]),
  ...["failure.step", "failure.attempt", "failure.job_id"],
]);

/** Values in a shell line that the shell would take for more than a word: `$(rm -r ~)` in an input is run. */
export function warnOfShellWords(
  text: TextWithNames,
  plainInputs: ReadonlySet<string>,
  findings: Findings,
): void {
  const risky = text.names.prints.filter(({ reads }) => reads.some((read) => !isSafe(read, plainInputs)));
  if (risky.length === 0) return;
  const gaps = [...text.text.matchAll(LIQUID_PART)].map((match) => ({
    from: match.index,
    to: match.index + match[0].length,
  }));
  const places = placesInShell(text.text, gaps);
  for (const printed of risky) {
    const gap = gaps.findLastIndex(({ from }) => from <= printed.from);
    const warning = warningFor(printed, places[gap] ?? "words", text.text);
    if (warning === null) continue;
    const inside = placeInText(text, printed.from);
    findings.warn({ code: "UNQUOTED_IN_SHELL", ...warning, at: text.node.at, path: text.path, inside });
  }
}

function isSafe({ path }: NameRead, plainInputs: ReadonlySet<string>): boolean {
  const [root, member] = path;
  if (root?.name === "inputs" && member !== undefined) return plainInputs.has(member.name);
  return SAFE_VALUES.has(path.map(({ name }) => name).join("."));
}

function warningFor(
  { from, to, filters }: Printed,
  place: ShellPlace,
  text: string,
): { readonly message: string; readonly hint: string } | null {
  const written = text.slice(from, to);
  const shown = quote(written);
  if (filters.includes(SHELL_FILTER)) {
    if (place !== "quotes") return null;
    const hint =
      "Remove the quotes around it: `| sh` adds its own, and inside other quotes they do not protect.";
    return { message: `${shown} is quoted twice`, hint };
  }
  const last = filters.findLast((name) => /^\w+$/.test(name));
  if (place === "plain_document" || (last !== undefined && NUMBER_FILTERS.has(last))) return null;
  const message = `${shown} is not quoted: the shell would run its contents`;
  if (place === "document")
    return {
      message,
      hint: "Quote the here-document's delimiter (`<<'EOF'`), or pass the value in `env`.",
    };
  const quoted = quote(written.replace(/\s*(-?(?:\}\}|%\}))$/, " | sh $1"));
  return {
    message,
    hint: place === "quotes" ? `Write ${quoted}, outside of the quotes.` : `Write ${quoted}.`,
  };
}
