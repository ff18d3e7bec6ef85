import { autocompletion, type CompletionContext, type CompletionResult } from "@codemirror/autocomplete";
import type { Extension, Text } from "@codemirror/state";
import { hoverTooltip } from "@codemirror/view";
import { docAt, keysAt, type SchemaPart, valuesAt } from "./schema-at.js";
import { placeAt } from "./text-place.js";

/** Keys whose values are names of steps. */
const STEP_KEYS = new Set(["from", "to", "goto", "run", "depends_on", "step"]);
/** How many lines before the cursor are searched for its place. A file may have a million lines. */
const MAX_LINES_ABOVE = 5_000;

/** Completes keys, values and steps while typing, and explains the key under the pointer. */
export function textCompletion(schema: () => SchemaPart | null, steps: () => readonly string[]): Extension {
  return [
    autocompletion({ override: [(context) => complete(context, schema(), steps())], icons: false }),
    hoverTooltip((view, at) => {
      const root = schema();
      const { doc } = view.state;
      const line = doc.lineAt(at);
      const word = wordAround(line.text, at - line.from);
      if (root === null || word === null) return null;
      const { path } = placeIn(doc, line.from + word.from);
      const doc_ = docAt(root, path, word.text);
      if (doc_ === null) return null;
      return {
        pos: line.from + word.from,
        create: () => {
          const dom = document.createElement("div");
          dom.className = "known-key";
          dom.textContent = `${word.text}: ${doc_}`;
          return { dom };
        },
      };
    }),
  ];
}

function complete(
  { state, pos, explicit }: CompletionContext,
  root: SchemaPart | null,
  steps: readonly string[],
): CompletionResult | null {
  if (root === null) return null;
  const { path, word, key } = placeIn(state.doc, pos);
  if (word === "" && !explicit) return null;
  const from = pos - /[\w.-]*$/.exec(word)![0].length;
  if (key === null && path.at(-1) !== 0) {
    const options = keysAt(root, path).map(({ key: known, doc }) => ({
      ...{ label: known, apply: `${known}: `, type: "property", info: doc },
    }));
    return options.length === 0 ? null : { from, options, validFor: /^[\w-]*$/ };
  }
  const place = key === null ? path : [...path, key];
  const isStep = place.some((part) => typeof part === "string" && STEP_KEYS.has(part));
  const values = [...valuesAt(root, place), ...(isStep ? steps : [])];
  return values.length === 0
    ? null
    : { from, options: values.map((label) => ({ label, type: "constant" })), validFor: /^[\w.-]*$/ };
}

function placeIn(doc: Text, at: number) {
  const line = doc.lineAt(at);
  const first = Math.max(1, line.number - MAX_LINES_ABOVE);
  const lines: string[] = [];
  for (const text of doc.iterLines(first, line.number + 1)) lines.push(text);
  return placeAt(lines, lines.length - 1, at - line.from);
}

function wordAround(text: string, at: number): { readonly from: number; readonly text: string } | null {
  for (const match of text.matchAll(/[\w-]+(?=\s*:)/g))
    if (match.index <= at && at <= match.index + match[0].length)
      return { from: match.index, text: match[0] };
  return null;
}
