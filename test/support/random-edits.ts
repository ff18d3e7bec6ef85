import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";

const place = fc.constantFrom("a.txt", "b", "b/c", "b/d/e", "run.sh", "bin", "bin/data.bin", "new näme");

/** Something done to one of a few files, so that edits meet. */
export const edit: fc.Arbitrary<Edit> = fc.oneof(
  fc.record({ do: fc.constant("write" as const), at: place, bytes: fc.uint8Array({ maxLength: 40 }) }),
  fc.record({ do: fc.constant("append" as const), at: place, bytes: fc.uint8Array({ maxLength: 9 }) }),
  fc.record({ do: fc.constant("remove" as const), at: place }),
  fc.record({ do: fc.constant("move" as const), at: place, to: place }),
  fc.record({ do: fc.constant("link" as const), at: place, to: place }),
);

type Edit =
  | { do: "write"; at: string; bytes: Uint8Array }
  | { do: "append"; at: string; bytes: Uint8Array }
  | { do: "remove"; at: string }
  | { do: "move"; at: string; to: string }
  | { do: "link"; at: string; to: string };

/** An edit that the files do not allow just now is no edit. */
export function tryEdit(path: string, edit: Edit): void {
  const at = join(path, edit.at);
  try {
    if (edit.do === "remove") rmSync(at, { recursive: true });
    else if (edit.do === "move") renameSync(at, join(path, edit.to));
    else if (edit.do === "link") symlinkSync(edit.to, at);
    else {
      mkdirSync(join(at, ".."), { recursive: true });
      writeFileSync(at, edit.bytes, { flag: edit.do === "append" ? "a" : "w" });
    }
  } catch {
    // No edit.
  }
}
