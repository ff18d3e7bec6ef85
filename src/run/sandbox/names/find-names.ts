import type { NameFinder, NamesInText } from "../../../file/read/placed-text.js";
import { ALLOWED_GLOBALS } from "../prelude.js";
import { namesInExpression } from "./expression-names.js";
import { namesInTemplate } from "./template-names.js";

export const nameFinder: NameFinder = {
  globals: new Map<string, readonly string[] | null>([
    ...ALLOWED_GLOBALS.map((name) => [name, null] as const),
    // User code may be a function body, and then it can read its `arguments`.
    ["arguments", null],
    ["Date", ["now"]],
  ]),
  inExpression: namesInExpression,
  inTemplate: namesInTemplate,
};

const OUTPUTS = "outputs";
/**
 * Text that matches none of these cannot reach `outputs`: the name itself, the global object, an escape, a computed
 * variable.
 */
const MAY_READ_OUTPUTS = /outputs|globalThis|\\|\[|_exp/;
/** Members that need the whole `outputs` object, not one step of it. */
const WHOLE_OBJECT = new Set(["size", ...Object.getOwnPropertyNames(Object.prototype)]);
const MAX_REMEMBERED = 500;

type NamedOutputs = readonly string[] | "all";

/**
 * The steps whose outputs an expression may read, so that only these are passed in. It is "all" when in doubt.
 * `outputs.history` counts as the name `history`.
 */
export const outputsNamedInCode = remembering(namesInExpression);
/** The steps whose outputs a template may read. */
export const outputsNamedInTemplate = remembering(namesInTemplate);

function remembering(find: (text: string) => NamesInText | null): (text: string) => NamedOutputs {
  const remembered = new Map<string, NamedOutputs>();
  return (text) => {
    if (!MAY_READ_OUTPUTS.test(text)) return [];
    let named = remembered.get(text);
    if (named === undefined) {
      named = outputsIn(find(text));
      if (remembered.size >= MAX_REMEMBERED) remembered.delete(remembered.keys().next().value ?? "");
      remembered.set(text, named);
    }
    return named;
  };
}

function outputsIn(names: NamesInText | null): NamedOutputs {
  if (names === null || names.hidden || names.declared.has(OUTPUTS)) return "all";
  const found = new Set<string>();
  for (const { path } of names.reads) {
    if (path[0]!.name !== OUTPUTS) continue;
    const step = path[1]?.name;
    if (step === undefined || WHOLE_OBJECT.has(step)) return "all";
    found.add(step);
  }
  return [...found];
}
