import type { Path } from "../read/path.js";
import type { ReadContext } from "../read/schema.js";

/** Dependencies of all jobs together: two large families that share no parameter would need their product. */
export const MAX_DEPENDENCIES = 1_000_000;

export function reportTooManyDependencies(
  at: number,
  path: Path | null,
  { findings }: Pick<ReadContext, "findings">,
): null {
  const message = `the jobs of the file have more than ${MAX_DEPENDENCIES} dependencies`;
  const hint =
    "Put one job between the two groups: it depends on every job of the first, and every job of the second depends on it.";
  findings.error({ code: "INVALID_VALUE", message, hint, at, path });
  return null;
}
