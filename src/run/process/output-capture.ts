import { isUtf8 } from "node:buffer";
import { plainLines, plainText } from "../../core/text/plain-text.js";

const INITIAL_BYTES = 1024;

/** Copies the first bytes of a stream, so that no chunk is kept alive by a small part of it. */
export class HeadCapture {
  private bytes = Buffer.alloc(0);
  private used = 0;
  private hasMore = false;

  constructor(private readonly maxBytes: number) {}

  /** Whether the stream was longer than what is kept. */
  get isCut(): boolean {
    return this.hasMore;
  }

  push(chunk: Buffer): void {
    const wanted = Math.min(this.used + chunk.length, this.maxBytes);
    if (wanted > this.bytes.length) this.grow(wanted);
    chunk.copy(this.bytes, this.used, 0, wanted - this.used);
    if (this.used + chunk.length > this.maxBytes) this.hasMore = true;
    this.used = wanted;
  }

  /** The text as UTF-8, without a character that the cut has split. */
  text(hide?: HideSecrets): string {
    return printedText(this.bytes.subarray(0, this.used), hide, this.hasMore);
  }

  private grow(wanted: number): void {
    const size = Math.min(Math.max(wanted, this.bytes.length * 2, INITIAL_BYTES), this.maxBytes);
    const larger = Buffer.allocUnsafe(size);
    this.bytes.copy(larger, 0, 0, this.used);
    this.bytes = larger;
  }
}

/** Copies the last bytes of a stream. */
export class TailCapture {
  private tail = Buffer.alloc(0);
  private hasDropped = false;

  constructor(private readonly maxBytes: number) {}

  push(chunk: Buffer): void {
    if (this.tail.length + chunk.length > this.maxBytes) this.hasDropped = true;
    // Both ways copy, so the chunk itself is not kept.
    if (chunk.length >= this.maxBytes) this.tail = Buffer.from(chunk.subarray(-this.maxBytes));
    else this.tail = Buffer.concat([this.tail.subarray(-(this.maxBytes - chunk.length)), chunk]);
  }

  /** The text as UTF-8. The first character may have lost its beginning. */
  text(hide?: HideSecrets): string {
    return printedText(this.tail, hide);
  }

  /** The lines that say anything, without colours and secrets. The first is left out where its beginning is lost. */
  lines(hide: HideSecrets = (bytes) => bytes): string[] {
    const lines = plainLines(plainText(printedText(hide(this.tail), undefined)));
    return this.hasDropped && lines.length > 1 ? lines.slice(1) : lines;
  }
}

/** Bytes without secrets. */
export type HideSecrets = (bytes: Uint8Array) => Uint8Array;

/**
 * What was printed or received, as text. Where decoding loses bytes, as it does of UTF-16, secrets are hidden before:
 * nobody would find them in what is left. Other text is searched later, once it is known to be JSON or not.
 */
export function printedText(bytes: Uint8Array, hide: HideSecrets | undefined, isCut = false): string {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const shown = hide === undefined || isUtf8(bytes) ? bytes : hide(bytes);
  return decoder.decode(shown, { stream: isCut });
}
