import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { z } from "zod";
import type { Answer } from "./operation.js";

/** What one answer may carry; more is read piece by piece. */
const MAX_PIECE_BYTES = 8 * 1_024 * 1_024;

const DEFAULT_PIECE_BYTES = 1_024 * 1_024;

const bytes = z.coerce.number().int().min(1).max(MAX_PIECE_BYTES);

export const offset = z.coerce.number().int().min(0).default(0).describe("Start at this byte.");

export const limitBytes = bytes.default(DEFAULT_PIECE_BYTES).describe("Maximum number of bytes.");

export const tailBytes = bytes.optional().describe("Only this many bytes at the end.");

export const piece = z.object({
  text: z.string(),
  encoding: z.enum(["utf8", "base64"]),
  offset: z.number(),
  next_offset: z.number(),
  size: z.number(),
});

export interface PartRequest {
  readonly offset: number;
  readonly limitBytes: number;
  /** Instead of the offset: only the end of the file. */
  readonly tailBytes?: number | undefined;
  readonly encoding: "utf8" | "base64";
}

/** A piece of a file. `next_offset` is where the piece after it begins. */
export type FilePart = Answer<typeof piece>;

const MAX_CHARACTER_BYTES = 4;

/** A file that is not there is empty: what printed nothing has none. */
export function readPart(file: string, request: PartRequest): FilePart {
  const { encoding } = request;
  const { bytes, offset, size } = readBytes(file, request);
  const kept = encoding === "utf8" && offset + bytes.length < size ? wholeCharacters(bytes) : bytes;
  return { text: kept.toString(encoding), encoding, offset, next_offset: offset + kept.length, size };
}

function readBytes(
  file: string,
  { offset, limitBytes, tailBytes }: PartRequest,
): { bytes: Buffer; offset: number; size: number } {
  let fd: number;
  try {
    fd = openSync(file, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT")
      return { bytes: Buffer.alloc(0), offset: 0, size: 0 };
    throw error;
  }
  try {
    const { size } = fstatSync(fd);
    const from = Math.min(size, tailBytes === undefined ? offset : Math.max(0, size - tailBytes));
    const buffer = Buffer.alloc(Math.min(limitBytes, size - from));
    return { bytes: buffer.subarray(0, readSync(fd, buffer, 0, buffer.length, from)), offset: from, size };
  } finally {
    closeSync(fd);
  }
}

/** Without the first bytes of a character whose last ones come in the next piece. */
export function wholeCharacters(bytes: Buffer): Buffer {
  for (let back = 1; back <= Math.min(MAX_CHARACTER_BYTES, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back]!;
    if ((byte & 0xc0) === 0x80) continue;
    const wanted = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return wanted > back && back < bytes.length ? bytes.subarray(0, bytes.length - back) : bytes;
  }
  return bytes;
}
