import { StringDecoder } from "node:string_decoder";
import { harmlessLines } from "./text-width.js";

/** A longer line is shown in parts, so that output without line breaks is shown, too. */
const MAX_LINE_CHARS = 8_192;

interface OpenStream {
  readonly decoder: StringDecoder;
  pending: string;
}

/** Collects what steps print into whole lines that are safe for a terminal. */
export class StepOutput {
  private readonly streams = new Map<string, OpenStream>();

  constructor(private readonly print: (name: string, lines: readonly string[]) => void) {}

  take(stream: string, name: string, bytes: Uint8Array): void {
    const open = this.streams.get(stream) ?? { decoder: new StringDecoder("utf8"), pending: "" };
    this.streams.set(stream, open);
    const lines = (open.pending + open.decoder.write(Buffer.from(bytes))).split("\n");
    open.pending = lines.pop()!;
    while (open.pending.length > MAX_LINE_CHARS) {
      lines.push(open.pending.slice(0, MAX_LINE_CHARS));
      open.pending = open.pending.slice(MAX_LINE_CHARS);
    }
    this.tell(name, lines);
  }

  end(stream: string, name: string): void {
    const open = this.streams.get(stream);
    this.streams.delete(stream);
    const rest = open === undefined ? "" : open.pending + open.decoder.end();
    if (rest !== "") this.tell(name, [rest]);
  }

  private tell(name: string, lines: readonly string[]): void {
    if (lines.length > 0) this.print(name, lines.map(lastDrawn));
  }
}

/** The final state of a line that was redrawn, such as a progress bar. */
function lastDrawn(line: string): string {
  const drawn = line.replace(/\r+$/, "").split("\r").at(-1)!;
  return harmlessLines(drawn).join(" ").trimEnd();
}
