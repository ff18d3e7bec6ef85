const SIZE_FORM = /^(\d{1,15}(?:\.\d{1,6})?) ?(?:([kmgt])(?:i?b)?|b)?$/i;
const BYTES_PER_UNIT: ReadonlyMap<string, number> = new Map([
  ["k", 1024],
  ["m", 1024 ** 2],
  ["g", 1024 ** 3],
  ["t", 1024 ** 4],
]);

/** Parses `512m`, `2g` or `1.5GiB` to bytes. Every unit is a power of 1024. Null if the text has no such form. */
export function parseMemorySize(text: string): number | null {
  const found = SIZE_FORM.exec(text.trim());
  if (found === null) return null;
  const [, amount, unit] = found;
  const bytes = Math.round(
    Number(amount) * (unit === undefined ? 1 : BYTES_PER_UNIT.get(unit.toLowerCase())!),
  );
  return Number.isSafeInteger(bytes) ? bytes : null;
}
