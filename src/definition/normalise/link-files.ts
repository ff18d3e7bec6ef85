import type { StepEntry } from "../fields/step-entries.js";
import type { Located, ReadContext } from "../read/schema.js";
import { quote } from "../read/suggest.js";

/** Files are dependencies: the step that makes one comes before the steps that need it. */
export function linkFiles(entries: readonly StepEntry[], context: ReadContext): readonly StepEntry[] {
  const producers = producersOf(entries, context);
  if (producers.size === 0) return entries;
  return entries.map((entry) => {
    const { raw } = entry;
    const inputs = raw?.keys.files?.inputs ?? [];
    const before = new Map<string, Located<string>>();
    for (const { value, at, path } of inputs) {
      const producer = producers.get(plainPath(value));
      if (producer !== undefined && producer !== entry.id)
        before.set(producer, { value: producer, at, path });
    }
    if (raw === null || before.size === 0) return entry;
    const depends_on = [...(raw.keys.depends_on ?? []), ...before.values()];
    return { ...entry, raw: { ...raw, keys: { ...raw.keys, depends_on } } };
  });
}

function producersOf(entries: readonly StepEntry[], { findings }: ReadContext): ReadonlyMap<string, string> {
  const producers = new Map<string, string>();
  for (const { id, raw } of entries) {
    for (const { value, at, path } of raw?.keys.files?.outputs ?? []) {
      const plain = plainPath(value);
      const first = producers.get(plain);
      if (first !== undefined && first !== id) {
        const message = `${quote(first)} and ${quote(id)} both make the file ${quote(value)}`;
        const hint = "Give each its own file, so that it is known which comes first.";
        findings.error({ code: "INVALID_VALUE", message, hint, at, path });
      }
      producers.set(plain, id);
    }
  }
  return producers;
}

/** `./a//b` is `a/b`. */
function plainPath(path: string): string {
  return path.replace(/\/{2,}/g, "/").replace(/(^|\/)(?:\.\/)+/g, "$1");
}
