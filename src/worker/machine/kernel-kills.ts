import { openSync, readFileSync, readSync } from "node:fs";
import { oomFileOf, oomKillsIn } from "./control-group.js";

const MAX_FILE_BYTES = 4_096;

/**
 * How many processes the kernel has ended for want of memory in the control group of this process, which is that of its
 * steps too. The file is found when it is first asked for and stays open: it is read once for every attempt.
 */
export class KernelKills {
  private fd: number | null | undefined = undefined;
  private readonly buffer = Buffer.alloc(MAX_FILE_BYTES);

  constructor(private readonly findFile: () => string | null = findOomFile) {}

  /** Null: nobody counts. */
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
