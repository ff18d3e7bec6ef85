/** The same value with the keys of every object in the order of the alphabet: their order means nothing. */
export function sortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedKeys);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, each]) => each !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, each]) => [key, sortedKeys(each)]),
  );
}

/** What fits is one line. */
const WIDTH = 120;

/** JSON to be read and compared line by line: only what is too long for one line is broken up. */
export function jsonText(value: unknown, indent = ""): string {
  const line = JSON.stringify(value);
  if (typeof value !== "object" || value === null || indent.length + line.length <= WIDTH) return line;
  const inner = `${indent} `;
  const isList = Array.isArray(value);
  const parts = isList
    ? value.map((each) => jsonText(each, inner))
    : Object.entries(value).map(([key, each]) => `${JSON.stringify(key)}: ${jsonText(each, inner)}`);
  const [open, close] = isList ? "[]" : "{}";
  return `${open}\n${parts.map((part) => inner + part).join(",\n")}\n${indent}${close}`;
}
