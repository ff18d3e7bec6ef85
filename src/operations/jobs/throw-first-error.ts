import { DarumaError, type ErrorCode } from "../../core/errors/errors.js";
import type { ResolveAnswer } from "./resolve-holds.js";

/** Throws the refusal of a request for one thing, instead of returning a list with one entry. */
export function throwFirstError({
  results,
}: {
  readonly results: readonly Pick<ResolveAnswer["results"][number], "error">[];
}): void {
  const refused = results.find(({ error }) => error !== null)?.error;
  if (refused != null) throw new DarumaError(refused.code as ErrorCode, refused.message);
}
