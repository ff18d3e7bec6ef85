import { type Paint, plainPaint } from "../../src/cli/render/paint.js";
import type { Channel } from "../../src/cli/terminal/channel.js";

export interface FakeChannel extends Channel {
  /** Each write by itself. */
  readonly writes: string[];
  readonly text: string;
  size: { width: number; height: number };
}

/** A stream that remembers, of a size that the test decides. */
export function fakeChannel(
  options: { width?: number; height?: number; isTerminal?: boolean; paint?: Paint } = {},
): FakeChannel {
  const writes: string[] = [];
  const size = { width: options.width ?? 80, height: options.height ?? 24 };
  return {
    writes,
    size,
    get text() {
      return writes.join("");
    },
    write: (text) => void writes.push(typeof text === "string" ? text : Buffer.from(text).toString()),
    isTerminal: options.isTerminal ?? false,
    paint: options.paint ?? plainPaint,
    width: () => size.width,
    height: () => size.height,
  };
}
