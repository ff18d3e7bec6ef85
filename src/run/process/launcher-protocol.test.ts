import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FrameReader, type FrameType } from "./launcher-protocol.js";

interface Frame {
  readonly type: FrameType;
  readonly id: number;
  readonly payload: string;
}

const anyFrame = fc.record({
  type: fc.constantFrom<FrameType>("H", "S", "O", "E", "L", "X", "F"),
  id: fc.nat(),
  payload: fc.string({ maxLength: 16, unit: "binary-ascii" }),
});

function encode(frame: Frame): Buffer {
  const header = Buffer.alloc(9);
  header.write(frame.type);
  header.writeUInt32BE(frame.id, 1);
  header.writeUInt32BE(frame.payload.length, 5);
  return Buffer.concat([header, Buffer.from(frame.payload, "latin1")]);
}

/** Output in pieces is joined again: where it was cut does not matter. */
function readInPieces(stream: Buffer, pieceBytes: number): Frame[] {
  const seen: Frame[] = [];
  const reader = new FrameReader((type, id, payload) =>
    seen.push({ type, id, payload: payload.toString("latin1") }),
  );
  for (let at = 0; at < stream.length; at += pieceBytes) reader.push(stream.subarray(at, at + pieceBytes));
  return seen;
}

const isOutput = (frame: Frame): boolean => frame.type === "O" || frame.type === "E";

describe("the launcher's frames", () => {
  it("are read alike however the stream is cut", () => {
    fc.assert(
      fc.property(fc.array(anyFrame), fc.integer({ min: 1, max: 40 }), (frames, pieceBytes) => {
        const seen = readInPieces(Buffer.concat(frames.map(encode)), pieceBytes);
        expect(seen.filter((frame) => !isOutput(frame))).toEqual(frames.filter((frame) => !isOutput(frame)));
        const textOf = (list: Frame[]): string =>
          list
            .filter(isOutput)
            .map((frame) => frame.payload)
            .join("");
        expect(textOf(seen)).toBe(textOf(frames));
      }),
    );
  });

  it("hand output on before its frame is complete", () => {
    const stream = encode({ type: "O", id: 7, payload: "x".repeat(1000) });
    const seen: number[] = [];
    const reader = new FrameReader((_type, _id, payload) => seen.push(payload.length));
    reader.push(stream.subarray(0, 109));
    expect(seen).toEqual([100]);
  });
});
