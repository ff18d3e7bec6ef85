import type { Path } from "../read/path.js";
import {
  type Fields,
  named,
  type ObjectOptions,
  object,
  type ReadContext,
  type ReadOf,
  type Schema,
  type WrittenFields,
} from "../read/schema.js";
import type { SourceMap } from "../read/source-tree.js";

/** An entry of the batch form as it is written, with its place: one for all values of its parameters. */
export interface Draft<F extends Fields> {
  readonly keys: ReadOf<F>;
  readonly node: SourceMap;
  readonly path: Path | null;
}

/** @param check of what no single key can tell */
export function draftOf<const F extends Fields>(
  name: string,
  fields: F,
  check: (draft: Draft<F>, context: ReadContext) => void = () => {},
  options: ObjectOptions = {},
): Schema<Draft<F>, WrittenFields<F>> {
  const map = object(fields, options);
  return named(name, {
    ...map,
    read(node, path, context) {
      const keys = map.read(node, path, context);
      if (keys === undefined || node.kind !== "map") return undefined;
      const draft = { keys, node, path };
      check(draft, context);
      return draft;
    },
  });
}
