import type { StepShells } from "../../operations/workflows/step-shells.js";

/** How many steps are named for each shell except the most usual one. */
const MAX_NAMES = 5;

/** Describes the shells: `shells: sh -e -c; bash -e -o pipefail -c for deploy`. */
export function shellLines(shells: readonly StepShells[]): string[] {
  if (shells.length === 0) return [];
  const [usual, ...others] = [...shells].sort((one, other) => other.steps.length - one.steps.length);
  const rest = others.map(({ shell, steps }) => {
    const more = steps.length - MAX_NAMES;
    return `${shell} for ${steps.slice(0, MAX_NAMES).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
  });
  return [`shell: ${[usual!.shell, ...rest].join("; ")}`];
}
