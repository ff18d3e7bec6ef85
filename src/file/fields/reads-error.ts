import type { NameFinder } from "../read/names-in-text.js";
import type { ReadCondition } from "./condition-fields.js";

const LAST_ERROR = "_last_error";

/** Whether a condition looks at a failure: `error`, or `state._last_error`. */
export function readsError({ fields, codes }: ReadCondition, findNames: NameFinder | null): boolean {
  return (
    codes.some((code) =>
      findNames
        ?.inExpression(code)
        ?.reads.some(({ path: [root, member] }) => isOfError(root?.name, member?.name)),
    ) ||
    fields.some(({ value }) => {
      const [root, member] = value.split(/[.[]/, 2);
      return isOfError(root, member);
    })
  );
}

function isOfError(root: string | undefined, member: string | undefined): boolean {
  return root === "error" || (root === "state" && member === LAST_ERROR);
}
