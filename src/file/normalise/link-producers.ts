import type { RawStep } from "../fields/read-step.js";
import type { StepEntry } from "../fields/step-entries.js";
import type { Located, ReadContext } from "../read/schema.js";
import { quote } from "../read/suggest.js";

/** Something that one step makes and others need. */
interface Product {
  readonly needed: (raw: RawStep) => readonly Located<string>[] | undefined;
  readonly made: (raw: RawStep) => readonly Located<string>[] | undefined;
  /** Two names for the same are one. */
  readonly plain: (name: string) => string;
  /** Completes "`a` and `b` both". */
  readonly twice: (name: string) => string;
  readonly hint: string;
}

const PRODUCTS: readonly Product[] = [
  {
    needed: ({ keys }) => keys.files?.inputs,
    made: ({ keys }) => keys.files?.outputs,
    plain: plainPath,
    twice: (path) => `make the file ${path}`,
    hint: "Give each its own file, so that it is known which comes first.",
  },
  {
    needed: ({ userData }) => userData?.inputs,
    made: ({ userData }) => userData?.outputs,
    plain: (name) => name,
    twice: (name) => `write the user data ${name}`,
    hint: "Give each its own name, so that it is known which value others read.",
  },
];

/** Files and user data are dependencies: the step that makes one comes before the steps that need it. */
export function linkProducers(entries: readonly StepEntry[], context: ReadContext): readonly StepEntry[] {
  return PRODUCTS.reduce((linked, product) => link(linked, product, context), entries);
}

function link(entries: readonly StepEntry[], product: Product, context: ReadContext): readonly StepEntry[] {
  const producers = producersOf(entries, product, context);
  if (producers.size === 0) return entries;
  return entries.map((entry) => {
    const { raw } = entry;
    const inputs = (raw && product.needed(raw)) ?? [];
    const before = new Map<string, Located<string>>();
    for (const { value, at, path } of inputs) {
      const producer = producers.get(product.plain(value));
      if (producer !== undefined && producer !== entry.id)
        before.set(producer, { value: producer, at, path });
    }
    if (raw === null || before.size === 0) return entry;
    const depends_on = [...(raw.keys.depends_on ?? []), ...before.values()];
    return { ...entry, raw: { ...raw, keys: { ...raw.keys, depends_on } } };
  });
}

function producersOf(
  entries: readonly StepEntry[],
  { made, plain, twice, hint }: Product,
  { findings }: ReadContext,
): ReadonlyMap<string, string> {
  const producers = new Map<string, string>();
  for (const { id, raw } of entries) {
    for (const { value, at, path } of (raw && made(raw)) ?? []) {
      const name = plain(value);
      const first = producers.get(name);
      if (first !== undefined && first !== id) {
        const message = `${quote(first)} and ${quote(id)} both ${twice(quote(value))}`;
        findings.error({ code: "INVALID_VALUE", message, hint, at, path });
      }
      producers.set(name, id);
    }
  }
  return producers;
}

/** `./a//b` is `a/b`. */
function plainPath(path: string): string {
  return path.replace(/\/{2,}/g, "/").replace(/(^|\/)(?:\.\/)+/g, "$1");
}
