import { type Located, listOf, type ReadContext, type Schema } from "./schema.js";
import { quote } from "./suggest.js";

/** A list whose entries are found by their names: no two may have the same. */
export function namedListOf<Entry extends { readonly name: Located<string> | undefined }, W>(
  entry: Schema<Entry, W>,
  items: string,
): Schema<readonly Entry[], readonly W[]> {
  const list = listOf(entry, { items });
  return {
    ...list,
    read(node, path, context) {
      const entries = list.read(node, path, context);
      if (entries !== undefined) reportSameNames(entries, items, context);
      return entries;
    },
  };
}

function reportSameNames(
  entries: readonly { readonly name: Located<string> | undefined }[],
  what: string,
  context: ReadContext,
): void {
  const seen = new Set<string>();
  for (const { name } of entries) {
    if (name === undefined) continue;
    if (seen.has(name.value)) {
      const message = `two ${what} have the name ${quote(name.value)}`;
      const hint = "Rename one of them.";
      context.findings.error({ code: "DUPLICATE_ID", message, hint, at: name.at, path: name.path });
    }
    seen.add(name.value);
  }
}
