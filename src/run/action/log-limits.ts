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

/** Keeps the last bytes of a stream in constant memory; nothing is allocated for a stream that stays empty. */
export class LogTail {
  private buffer: Buffer | null = null;
  private length = 0;
  private hasDropped = false;

  constructor(private readonly maxBytes: number) {}

  append(chunk: Uint8Array): void {
    if (chunk.length === 0) return;
    const last = chunk.subarray(Math.max(0, chunk.length - this.maxBytes));
    if (last.length < chunk.length) this.hasDropped = true;
    // Twice the size, so that old bytes are moved away once every maxBytes only.
    this.buffer ??= Buffer.allocUnsafe(2 * this.maxBytes);
    if (this.length + last.length > this.buffer.length) {
      const kept = Math.min(this.length, this.maxBytes - last.length);
      this.buffer.copyWithin(0, this.length - kept, this.length);
      this.length = kept;
      this.hasDropped = true;
    }
    this.buffer.set(last, this.length);
    this.length += last.length;
  }

  /** The last `bytes` at most, as text that neither starts nor ends inside a code point. */
  text(bytes: number): string {
    if (!this.buffer) return "";
    let start = Math.max(0, this.length - Math.min(bytes, this.maxBytes));
    if (start > 0 || this.hasDropped)
      for (let skipped = 0; skipped < 3 && isContinuation(this.buffer[start]); skipped++) start++;
    return this.buffer.toString("utf8", start, this.wholeEnd(start));
  }

  /** The end without a last code point of which only the first bytes have come. */
  private wholeEnd(start: number): number {
    for (let back = 1; back <= 3 && this.length - back >= start; back++) {
      const byte = this.buffer![this.length - back]!;
      if (isContinuation(byte)) continue;
      return back < sequenceLength(byte) ? this.length - back : this.length;
    }
    return this.length;
  }
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

function sequenceLength(lead: number): number {
  if (lead >= 0xf0) return lead < 0xf8 ? 4 : 1;
  if (lead >= 0xe0) return 3;
  return lead >= 0xc0 ? 2 : 1;
}
