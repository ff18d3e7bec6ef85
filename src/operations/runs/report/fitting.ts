import { scriptJson } from "./embed-report.js";

/** What fits into so many bytes of the page, from the beginning on. */
export function fitting<Item>(items: readonly Item[], maxBytes: number): readonly Item[] {
  let bytes = 0;
  const end = items.findIndex((item) => {
    bytes += bytesOf(item);
    return bytes > maxBytes;
  });
  return end === -1 ? items : items.slice(0, end);
}

/** The items that fit, counted from the end. */
export function fittingLast<Item>(items: readonly Item[], maxBytes: number): readonly Item[] {
  return fitting([...items].reverse(), maxBytes).toReversed();
}

export function bytesOf(value: unknown): number {
  return Buffer.byteLength(scriptJson(value));
}
