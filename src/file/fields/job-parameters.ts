import type { Path } from "../read/path.js";
import type { ParameterValue, ParameterValues } from "../read/placeholders.js";
import { mapOf, type ReadContext, type Schema, wrongType } from "../read/schema.js";
import type { Scalar } from "../read/schema-scalars.js";
import type { SourceNode, SourceScalar } from "../read/source-tree.js";
import { quote } from "../read/suggest.js";

/** Jobs of one file once all parameters are filled in. */
export const MAX_JOBS = 100_000;
const NUMBER_FORM = /^-?\d{1,15}(?:\.\d{1,9})?$/;
const LIST_FORM = /^\[(.*)\]$/s;
const HOW_TO = "Write 1:3 for 1, 2, 3; 0:100:10 for steps of 10; or a list.";

/** All values of one parameter, in order. */
const values: Schema<readonly ParameterValue[], string | number | readonly Scalar[]> = {
  expected: "a range such as `1:3`, or a list of values",
  fits: (node) => node.kind !== "map",
  read(node, path, context) {
    if (node.kind === "map" || (node.kind === "scalar" && node.value === null))
      return wrongType(values, node, path, context);
    const found = node.kind === "list" ? readList(node.items) : readScalar(node);
    if (typeof found !== "string") return found;
    context.findings.error({ code: "INVALID_VALUE", message: found, hint: HOW_TO, at: node.at, path });
    return undefined;
  },
  json: () => ({
    anyOf: [
      { type: ["string", "number"] },
      { type: "array", minItems: 1, items: { type: ["string", "number", "boolean"] } },
    ],
  }),
};

export const PARAMETER_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

export const parameters = mapOf(values, {
  keyPattern: PARAMETER_NAME,
  keyRule: "A parameter's name has letters, digits and `_`, and begins with a letter or `_`.",
});

/** The values, or what is wrong. */
function readList(items: readonly SourceNode[]): readonly ParameterValue[] | string {
  if (items.length === 0) return "the list of values is empty";
  const found: ParameterValue[] = [];
  for (const item of items) {
    if (item.kind !== "scalar" || item.value === null) return "a value must be text, a number, true or false";
    found.push(toValue(item));
  }
  return found;
}

function toValue({ value, written }: SourceScalar): ParameterValue {
  if (typeof value === "number") return { text: written, number: value };
  const text = typeof value === "string" ? value : written;
  return { text, number: NUMBER_FORM.test(text) ? Number(text) : null };
}

function readScalar(node: SourceScalar): readonly ParameterValue[] | string {
  if (typeof node.value !== "string") return [toValue(node)];
  const text = node.value.trim();
  const list = LIST_FORM.exec(text);
  if (list !== null) return readListText(list[1]!);
  const parts = text.split(":").map((part) => part.trim());
  if ((parts.length !== 2 && parts.length !== 3) || !parts.every((part) => NUMBER_FORM.test(part)))
    return `${quote(text)} is neither a range nor a list`;
  return readRange(parts);
}

/** `[1, 5, 'a']` written as text. */
function readListText(inside: string): readonly ParameterValue[] | string {
  if (inside.trim() === "") return "the list of values is empty";
  return inside.split(",").map((part) => {
    const bare = part.trim();
    const quoted = /^(["'])(.*)\1$/s.exec(bare);
    const text = quoted === null ? bare : quoted[2]!;
    return { text, number: quoted === null && NUMBER_FORM.test(text) ? Number(text) : null };
  });
}

/** Both ends included. Counted in whole units of the finest decimal, so that 0:1:0.1 has eleven exact values. */
function readRange(parts: readonly string[]): readonly ParameterValue[] | string {
  const range = quote(parts.join(":"));
  const decimals = Math.max(...parts.map((part) => part.split(".")[1]?.length ?? 0));
  const scale = 10 ** decimals;
  const [first, last, step = scale] = parts.map((part) => Math.round(Number(part) * scale));
  if (step === 0) return `the range ${range} never ends: its step is 0`;
  const count = Math.floor((last! - first!) / step) + 1;
  if (count <= 0) return `the range ${range} is empty`;
  if (count > MAX_JOBS) return `the range ${range} has ${count} values, more than ${MAX_JOBS}`;
  return Array.from({ length: count }, (_, place) => {
    const number = (first! + place * step) / scale;
    return { text: number.toFixed(decimals), number };
  });
}

/** Every combination (the last parameter changes fastest), or the values side by side. */
export function combine(
  given: ReadonlyMap<string, readonly ParameterValue[]>,
  mode: "product" | "zip",
  place: { readonly at: number; readonly path: Path | null },
  context: ReadContext,
): readonly ParameterValues[] {
  const names = [...given.keys()];
  const lists = [...given.values()];
  const report = (message: string, hint: string) =>
    context.findings.error({ code: "INVALID_VALUE", message, hint, at: place.at, path: place.path });
  const lengths = lists.map((list) => list.length);
  if (mode === "zip" && new Set(lengths).size > 1) {
    const counts = names.map((name, at) => `\`${name}\` has ${lengths[at]}`).join(", ");
    report(
      `zipped parameters need the same number of values: ${counts}`,
      "Use `parameter_mode: product`, or give each the same number of values.",
    );
    return [];
  }
  const count = mode === "zip" ? (lengths[0] ?? 1) : lengths.reduce((product, length) => product * length, 1);
  if (count > MAX_JOBS) {
    report(
      `the parameters make ${count} jobs, more than ${MAX_JOBS}`,
      "Give fewer values, or split the file.",
    );
    return [];
  }
  return Array.from({ length: count }, (_, at) => {
    const chosen = new Map<string, ParameterValue>();
    let rest = at;
    for (let index = names.length - 1; index >= 0; index--) {
      const length = lengths[index]!;
      chosen.set(names[index]!, lists[index]![mode === "zip" ? at : rest % length]!);
      rest = Math.floor(rest / length);
    }
    return chosen;
  });
}
