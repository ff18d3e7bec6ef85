import type { Definition } from "../../core/model/definition.js";
import { type BASH_OR_SH, type Shell, shellText } from "../../core/model/shell.js";

/** A shell, and the steps whose texts it runs. */
export interface StepShells {
  readonly shell: string;
  readonly steps: readonly string[];
}

/** The shells in the order of their first use in the file. Steps without shell code are left out. */
export function stepShells({ steps }: Definition): StepShells[] {
  const found = new Map<string, string[]>();
  for (const { id, action } of steps) {
    if (action.shell === undefined) continue;
    const shell = shellText(action.shell as Shell | typeof BASH_OR_SH);
    const known = found.get(shell);
    if (known === undefined) found.set(shell, [id]);
    else known.push(id);
  }
  return [...found].map(([shell, ids]) => ({ shell, steps: ids }));
}
