import { type Channel, jsonText } from "./channel.js";

const INDENT = "  ";

/** Items are collected up to this size, because a write for each would cost more than the item itself. */
const CHARS_PER_WRITE = 64 * 1024;

/**
 * Writes what `writeJson` would write for the object with these items in its list `key` (empty so far). It writes them
 * one by one, so they are never all in memory.
 */
export async function writeJsonWithList<T extends object>(
  channel: Channel,
  value: T,
  key: keyof T & string,
  items: AsyncIterable<unknown>,
): Promise<void> {
  const indent = channel.isTerminal ? INDENT : "";
  const [opening, closing] = aroundList(value, key, indent);
  const lineIn = indent === "" ? "" : `\n${indent}${indent}`;
  let text = opening;
  let isEmpty = true;
  for await (const item of items) {
    const itemText = jsonText(item, indent.length);
    text += (isEmpty ? "" : ",") + lineIn + (indent === "" ? itemText : itemText.replaceAll("\n", lineIn));
    isEmpty = false;
    if (text.length < CHARS_PER_WRITE) continue;
    channel.write(text);
    text = "";
  }
  const lineOut = indent === "" || isEmpty ? "" : `\n${indent}`;
  channel.write(`${text}${lineOut}${closing}\n`);
}

/** The text up to the bracket that opens the list, and from the one that closes it. */
function aroundList(value: object, key: string, indent: string): [opening: string, closing: string] {
  const entries = Object.entries(value);
  const place = entries.findIndex(([name]) => name === key);
  const before = jsonText(Object.fromEntries([...entries.slice(0, place), [key, []]]), indent.length);
  const after = jsonText(Object.fromEntries([[key, []], ...entries.slice(place + 1)]), indent.length);
  return [before.slice(0, before.lastIndexOf("[]") + 1), after.slice(after.indexOf("[]") + 1)];
}
