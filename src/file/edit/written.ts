import type { Json } from "../../core/text/json.js";

/** Without quotes these are read back as the same text. */
const PLAIN_WORD = /^[A-Za-z_][\w./-]*$/;
const NO_TEXT = new Set(["true", "false", "null"]);

/** How the text around writes its values: JSON has quotes around everything. */
export type Style = "yaml" | "json";

/** A value on one line. */
export function written(value: Json, style: Style): string {
  if (style === "json") return JSON.stringify(value);
  if (typeof value === "string")
    return PLAIN_WORD.test(value) && !NO_TEXT.has(value.toLowerCase()) ? value : JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item) => written(item, style)).join(", ")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const pairs = Object.entries(value).map(([key, item]) => `${written(key, style)}: ${written(item, style)}`);
  return pairs.length === 0 ? "{}" : `{ ${pairs.join(", ")} }`;
}

export function writtenPair(key: string, value: Json, style: Style): string {
  return `${written(key, style)}: ${written(value, style)}`;
}
