/** What people call a run by, to find it again. */
export type Labels = { readonly [key: string]: string };

export const MAX_LABELS = 32;
export const MAX_LABEL_VALUE_CHARS = 200;

export const LABEL_KEY = /^[A-Za-z0-9][A-Za-z0-9._/-]{0,62}$/;
export const LABEL_KEY_RULE =
  "A label's key has letters, digits and `._/-`, begins with a letter or digit, and has at most 63 characters.";
/** A comma separates labels where a query string names several. */
export const LABEL_VALUE = /^[^\p{Cc}\p{Cs},]*$/u;
export const LABEL_VALUE_RULE = "A label's value is on one line, without a comma.";

/** What is wrong with them, or null. */
export function labelsProblem(labels: Labels): string | null {
  const entries = Object.entries(labels);
  if (entries.length > MAX_LABELS) return `${entries.length} labels are more than ${MAX_LABELS}`;
  for (const [key, value] of entries) {
    if (!LABEL_KEY.test(key))
      return `${JSON.stringify(key.slice(0, 80))} is not allowed as the key of a label`;
    if (typeof value !== "string") return `the label ${key} must be text`;
    if (value.length > MAX_LABEL_VALUE_CHARS)
      return `the label ${key} has ${value.length} characters, more than ${MAX_LABEL_VALUE_CHARS}`;
    if (!LABEL_VALUE.test(value)) return `the label ${key} has a comma or a character that cannot be shown`;
  }
  return null;
}

/** `team=core, env=prod`, by key. */
export function labelsText(labels: Labels): string {
  return Object.entries(labels)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}=${value}`)
    .join(", ");
}
