const MEBIBYTE = 1024 * 1024;

/** What the notice ends with: a log that ends otherwise is whole. */
export const NOTICE_END = "]\n";

/** How much the logs of one attempt may still take, all together. */
export class LogQuota {
  private left: number;

  constructor(private readonly bytes: number) {
    this.left = bytes;
  }

  /** Returns as much of it as there is room for. */
  take(printed: Uint8Array): Uint8Array {
    const kept = printed.length <= this.left ? printed : printed.subarray(0, this.left);
    this.left -= kept.length;
    return kept;
  }

  /** Stands in each log that was cut, once, at the end. */
  notice(): Uint8Array {
    const size = this.bytes >= MEBIBYTE ? `${Math.floor(this.bytes / MEBIBYTE)} MiB` : `${this.bytes} bytes`;
    return Buffer.from(
      `\n[daruma: the logs of this attempt have reached max_log (${size}); the rest is dropped${NOTICE_END}`,
    );
  }
}
