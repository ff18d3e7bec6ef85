import { deflateRawSync, inflateRawSync } from "node:zlib";
import { DarumaError } from "../../core/errors/errors.js";

/**
 * A place in the logs of all runs. No store counts events across runs: that would be one number for which all runs
 * wait. So a place names each run that is under way and how far its log was seen; runs above `newest` are not seen at
 * all, all others were over.
 */
export interface Position {
  newest: number;
  readonly seen: Map<number, number>;
}

const FORMAT = 1;
/** What fits into a request's headers beside everything else: some ten thousand runs under way. */
const MAX_ID_CHARS = 12_000;
/** Limit for a given cursor when it is unpacked. */
const MAX_UNPACKED_BYTES = 4 * 1_024 * 1_024;
const DIGIT_BITS = 7;
const DIGIT = 2 ** DIGIT_BITS;
/** Limit for a number that every store can hold. */
const MAX_DIGITS = 8;

/** The whole place, however long. */
export function writeCursor({ newest, seen }: Position): string {
  const entries = [...seen].sort(([first], [second]) => first - second);
  return pack(newest, entries);
}

/**
 * A position that fits into a header. If the whole one does not, the runs with the highest numbers are left out and
 * count as not seen, so that their events are sent again from the beginning and none is lost.
 */
export function writeEventId({ newest, seen }: Position, maxChars: number = MAX_ID_CHARS): string {
  const entries = [...seen].sort(([first], [second]) => first - second);
  let text = pack(newest, entries);
  for (let kept = entries.length; text.length > maxChars && kept > 0; ) {
    kept = Math.floor(kept / 2);
    text = pack(entries[kept]![0] - 1, entries.slice(0, kept));
  }
  return text;
}

export function readCursor(cursor: string): Position {
  try {
    return unpack(inflateRawSync(Buffer.from(cursor, "base64url"), { maxOutputLength: MAX_UNPACKED_BYTES }));
  } catch (error) {
    throw new DarumaError("INVALID_INPUT", "after: invalid cursor", {
      hint: "Give the `next` of list_events, or the id of an item of its stream, unchanged.",
      cause: error,
    });
  }
}

/** Numbers of runs lie close together and most logs are short: differences and small numbers pack well. */
function pack(newest: number, entries: readonly (readonly [number, number])[]): string {
  const bytes: number[] = [FORMAT];
  pushNumber(bytes, newest);
  let before = 0;
  for (const [run, seq] of entries) {
    pushNumber(bytes, run - before);
    pushNumber(bytes, seq);
    before = run;
  }
  return deflateRawSync(Uint8Array.from(bytes)).toString("base64url");
}

function unpack(bytes: Uint8Array): Position {
  if (bytes[0] !== FORMAT) throw new RangeError("of another format");
  let at = 1;
  const next = (): number => {
    let value = 0;
    for (let digit = 0; digit < MAX_DIGITS; digit += 1) {
      const byte = bytes[at++];
      if (byte === undefined) break;
      value += (byte % DIGIT) * DIGIT ** digit;
      if (byte < DIGIT && Number.isSafeInteger(value)) return value;
    }
    throw new RangeError("not a number");
  };
  const position: Position = { newest: next(), seen: new Map() };
  for (let run = 0; at < bytes.length; ) {
    run += next();
    position.seen.set(run, next());
  }
  return position;
}

function pushNumber(bytes: number[], value: number): void {
  let left = value;
  for (; left >= DIGIT; left = Math.floor(left / DIGIT)) bytes.push((left % DIGIT) + DIGIT);
  bytes.push(left);
}
