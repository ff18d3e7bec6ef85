/** A parameter's value: how it is written, and as a number where it is one. */
export interface ParameterValue {
  readonly text: string;
  readonly number: number | null;
}

export type ParameterValues = ReadonlyMap<string, ParameterValue>;

/** `{i}` or `{i:03d}`; neither a shell's `${i}` nor the inside of a template's `{{i}}`. */
const PLACEHOLDER = /(?<![{$])\{([A-Za-z_][A-Za-z0-9_]*)(?::([^{}\s]*))?\}/g;
const FORMAT = /^(0?)(\d{0,3})(?:\.(\d{1,2}))?([dfes])$/;

export interface Filled {
  readonly text: string;
  /** Why a placeholder could not be filled. */
  readonly problem: string | null;
}

/** The names in its placeholders, each once. */
export function placeholdersIn(text: string): ReadonlySet<string> {
  return new Set([...text.matchAll(PLACEHOLDER)].map(([, name = ""]) => name));
}

/** Fills the placeholders of declared parameters; all other braces stay as they are. */
export function fillPlaceholders(text: string, values: ParameterValues): Filled {
  if (values.size === 0 || !text.includes("{")) return { text, problem: null };
  let problem: string | null = null;
  const filled = text.replace(PLACEHOLDER, (whole, name: string, format: string | undefined) => {
    const formatted = fillOne(whole, name, format, values);
    if (formatted !== null) return formatted;
    problem ??= `${whole} cannot be filled with ${values.get(name)?.text}`;
    return whole;
  });
  return { text: filled, problem };
}

/** Where a character of the filled text stands in the text as it was; of a value that was filled in: its placeholder. */
export function offsetBeforeFilling(text: string, values: ParameterValues, offset: number): number {
  let grown = 0;
  for (const match of text.matchAll(PLACEHOLDER)) {
    const [whole, name = "", format] = match;
    const { length } = fillOne(whole, name, format, values) ?? whole;
    const from = match.index + grown;
    if (offset < from) break;
    if (offset < from + length) return match.index;
    grown += length - whole.length;
  }
  return offset - grown;
}

function fillOne(
  whole: string,
  name: string,
  format: string | undefined,
  values: ParameterValues,
): string | null {
  const value = values.get(name);
  if (value === undefined) return whole;
  return format === undefined ? value.text : formatValue(value, format);
}

/** Python's `03d`, `.2f`, `.3e`, `s`; null where the format is another or does not fit the value. */
function formatValue({ text, number }: ParameterValue, format: string): string | null {
  const parts = FORMAT.exec(format);
  if (parts === null) return null;
  const [, zero, width, precision, kind] = parts;
  const body = formatBody(text, number, precision === undefined ? null : Number(precision), kind!);
  if (body === null) return null;
  const missing = Number(width) - body.length;
  if (missing <= 0) return body;
  if (zero === "") return kind === "s" ? body.padEnd(Number(width)) : body.padStart(Number(width));
  const sign = body.startsWith("-") ? "-" : "";
  return sign + "0".repeat(missing) + body.slice(sign.length);
}

function formatBody(
  text: string,
  number: number | null,
  precision: number | null,
  kind: string,
): string | null {
  if (kind === "s") return precision === null ? text : text.slice(0, precision);
  if (number === null) return null;
  if (kind === "d") return Number.isInteger(number) && precision === null ? String(number) : null;
  const DEFAULT_PRECISION = 6;
  return kind === "f"
    ? number.toFixed(precision ?? DEFAULT_PRECISION)
    : number.toExponential(precision ?? DEFAULT_PRECISION);
}
