import type { RunStatus } from "../../core/model/rows.js";
import type { Colour } from "./paint.js";

/** Marks an imported run, whose status was determined elsewhere. */
export function importedMark({ imported }: { readonly imported: boolean }): string {
  return imported ? " (imported)" : "";
}

export const STATUS_SIGNS: Readonly<
  Record<RunStatus | "interrupted", readonly [sign: string, colour: Colour]>
> = {
  pending: ["•", "cyan"],
  running: ["•", "cyan"],
  interrupted: ["!", "yellow"],
  paused: ["‖", "yellow"],
  held: ["‖", "yellow"],
  completed: ["✓", "green"],
  failed: ["✗", "red"],
  canceled: ["⊘", "yellow"],
};

/** Sign for a completed run with handled failures that were not repaired. */
export const HANDLED_SIGN: readonly [sign: string, colour: Colour] = ["!", "yellow"];
