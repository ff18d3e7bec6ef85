import { closeSync, openSync, readSync, statSync } from "node:fs";
import type { Stream } from "../desk/protocol.js";

/** A log that grows here and must be sent to the server completely. */
export class AttemptLog {
  /** How much of it the server has. */
  sent = 0;

  constructor(
    readonly file: string,
    readonly stream: Stream,
  ) {}

  get size(): number {
    return statSync(this.file, { throwIfNoEntry: false })?.size ?? 0;
  }

  get exists(): boolean {
    return statSync(this.file, { throwIfNoEntry: false }) !== undefined;
  }

  /** The next unsent bytes, up to a limit. */
  next(limit: number): Buffer {
    const length = Math.min(limit, this.size - this.sent);
    if (length <= 0) return Buffer.alloc(0);
    const fd = openSync(this.file, "r");
    try {
      const bytes = Buffer.alloc(length);
      return bytes.subarray(0, readSync(fd, bytes, 0, length, this.sent));
    } finally {
      closeSync(fd);
    }
  }
}
