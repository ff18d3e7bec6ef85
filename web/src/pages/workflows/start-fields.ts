/** A field of the form that starts a run, made from a declared input. */
export interface StartField {
  readonly name: string;
  readonly type: "string" | "number" | "boolean" | "object" | "array" | "any";
  readonly required: boolean;
  readonly description: string | null;
  /** The value if nothing is typed; null for none. */
  readonly fallback: string | null;
  /** The values to choose from; null if it is typed. */
  readonly choices: readonly string[] | null;
}

interface DeclaredInput {
  readonly type: StartField["type"];
  readonly required: boolean;
  readonly default: unknown;
  readonly description: string | null;
  readonly enum?: readonly unknown[];
}

export function fieldsOf(inputs: { readonly [name: string]: DeclaredInput }): StartField[] {
  return Object.entries(inputs).map(
    ([name, { type, required, default: fallback, description, enum: values }]) => ({
      name,
      type,
      required,
      description,
      fallback: fallback === null || fallback === undefined ? null : textOf(fallback),
      choices: values?.map(textOf) ?? (type === "boolean" ? ["true", "false"] : null),
    }),
  );
}

/** The typed inputs without empty ones. The server converts them to their types, or reports the field. */
export function givenInputs(typed: { readonly [name: string]: string }): { [name: string]: string } {
  return Object.fromEntries(Object.entries(typed).filter(([, text]) => text !== ""));
}

/** Parses `team=core, tier=gold`. */
export function labelsOf(typed: string): { [key: string]: string } | { readonly wrong: string } {
  const labels: { [key: string]: string } = {};
  for (const part of typed.split(/[,\n]/).map((text) => text.trim())) {
    if (part === "") continue;
    const at = part.indexOf("=");
    if (at < 1) return { wrong: `write key=value instead of ${part}` };
    labels[part.slice(0, at).trim()] = part.slice(at + 1).trim();
  }
  return labels;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

const HINTS: { readonly [type in StartField["type"]]: string } = {
  string: "text",
  number: "a number",
  boolean: "true or false",
  object: "a JSON object",
  array: "a JSON array",
  any: "text",
};

/** What the field expects, and which value it has if left empty. */
export function hintOf({ type, description, fallback, choices }: StartField): string {
  const what = description ?? (choices === null ? HINTS[type] : "");
  if (fallback === null || choices !== null) return what;
  const shown = fallback.length > MAX_FALLBACK_CHARS ? "its default" : fallback;
  return `${what.replace(/\.$/, "")}; ${shown} if left empty`;
}

const MAX_FALLBACK_CHARS = 40;
