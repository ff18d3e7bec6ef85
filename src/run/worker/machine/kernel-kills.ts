import { openSync, readFileSync, readSync } from "node:fs";
import { oomFileOf, oomKillsIn } from "./control-group.js";

const MAX_FILE_BYTES = 4_096;

/**
 * Counts processes that the kernel has killed for lack of memory in this process's control group, which is also that of
 * its steps. The file is opened on the first call and kept open, because it is read for every attempt.
 */
export class KernelKills {
  private fd: number | null | undefined = undefined;
  private readonly buffer = Buffer.alloc(MAX_FILE_BYTES);

  constructor(private readonly findFile: () => string | null = findOomFile) {}

  /** The count; null if unknown. */
  count(): number | null {
    try {
      if (this.fd === undefined) this.fd = this.open();
      if (this.fd === null) return null;
      return oomKillsIn(
        this.buffer.toString("latin1", 0, readSync(this.fd, this.buffer, 0, MAX_FILE_BYTES, 0)),
      );
    } catch {
      return null;
    }
  }

  private open(): number | null {
    this.fd = null;
    const file = this.findFile();
    return file === null ? null : openSync(file, "r");
  }
}

function findOomFile(): string | null {
  return oomFileOf((path) => {
    try {
      return readFileSync(path, "utf8");
    } catch {
      return null;
    }
  });
}
