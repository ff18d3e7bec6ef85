/** How many lines a patch adds and removes. */
export interface PatchLines {
  readonly added: number;
  readonly removed: number;
}

const HUNK = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/;

/** Counts within hunks only, whose headers say how long they are: outside of them a line may begin with anything. */
export function linesIn(patch: string): PatchLines {
  let [added, removed, before, after] = [0, 0, 0, 0];
  for (const line of patch.split("\n")) {
    if (before <= 0 && after <= 0) {
      const [, old = "1", now = "1"] = HUNK.exec(line) ?? [null, "0", "0"];
      [before, after] = [Number(old), Number(now)];
    } else if (line.startsWith("+")) {
      added += 1;
      after -= 1;
    } else if (line.startsWith("-")) {
      removed += 1;
      before -= 1;
    } else if (!line.startsWith("\\")) {
      before -= 1;
      after -= 1;
    }
  }
  return { added, removed };
}
