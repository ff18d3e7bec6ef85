import type { Automaton } from "./automaton.js";
import { ALNUM, BASE64, isBreak, isKind, runEnd } from "./bytes.js";
import { type Hit, LOOK_BEHIND_BYTES, PEM_TAIL, type Seen, SHAPES } from "./shapes.js";
import { MAX_FOLLOWED, WrappedNeedle } from "./wrapped.js";

/**
 * The part of a token beyond what was needed to recognise it. It may be of any length, so it is followed from chunk to
 * chunk and nothing of it is kept.
 */
interface Tail {
  /** The end of the tail's bytes from `from` on; `length` if it may go on in the next chunk. */
  extend(bytes: Uint8Array, from: number, length: number): number;
}

function openTail(kinds: number): Tail {
  if (kinds === PEM_TAIL) return new PrivateKeyTail();
  return { extend: (bytes, from, length) => runEnd(bytes, from, length, kinds) };
}

/** A line of a key has at least this many characters of base64 in a row, save the last. */
const MIN_KEY_LINE_BYTES = 16;
/** After this much text without a line of the key, the text only mentioned a key. Line prefixes in logs are shorter. */
const MAX_BETWEEN_KEY_LINES_BYTES = 256;
const END_MARK = "-----END ";
const DASHES = 5;
const DASH = 0x2d;
const NEWLINE = 0x0a;

/** Follows a private key to its END line, through whatever a log writes before each of its lines. */
class PrivateKeyTail implements Tail {
  private sinceKeyLine = 0;
  private lineRun = 0;
  private marked = 0;
  private phase: "begin" | "body" | "end" | "over" = "begin";
  private dashes = 0;

  extend(bytes: Uint8Array, from: number, length: number): number {
    for (let at = from; at < length; at++) {
      if (this.phase === "over" || this.isBeyond(bytes[at]!)) return at;
      this.follow(bytes[at]!);
    }
    return length;
  }

  /** A code point is never cut: the text around it would no longer be UTF-8. */
  private isBeyond(byte: number): boolean {
    return this.sinceKeyLine > MAX_BETWEEN_KEY_LINES_BYTES && (byte & 0xc0) !== 0x80;
  }

  private follow(byte: number): void {
    this.dashes = byte === DASH ? this.dashes + 1 : 0;
    this.lineRun = isKind(byte, ALNUM | BASE64) ? this.lineRun + 1 : 0;
    this.sinceKeyLine = this.lineRun >= MIN_KEY_LINE_BYTES ? 0 : this.sinceKeyLine + 1;
    if (this.phase === "begin" && this.dashes === DASHES) this.phase = "body";
    else if (this.phase === "body") this.seekEndMark(byte);
    else if (this.phase === "end" && (this.dashes === DASHES || byte === NEWLINE)) this.phase = "over";
  }

  private seekEndMark(byte: number): void {
    const expected = END_MARK.charCodeAt(this.marked);
    if (byte === expected) this.marked++;
    else if (byte !== DASH) this.marked = 0;
    else this.marked = this.marked === DASHES ? DASHES : 1;
    if (this.marked < END_MARK.length) return;
    this.phase = "end";
    this.marked = 0;
  }
}

/** Which text stands for secret number n; -1 is a token known by its shape. */
type LabelOf = (secret: number) => Uint8Array;

export const SHAPE_LABEL = -1;

/** Bytes to hide, by their places in the current buffer. */
interface Span {
  readonly start: number;
  readonly end: number;
  readonly secret: number;
}

/** A trigger that was found but not yet decided. */
interface Candidate {
  readonly shape: number;
  readonly trigger: string;
  readonly at: number;
}

interface FollowedTail {
  readonly tail: Tail;
  /** The part that is known to belong to it. A later token of the same kind that reaches into it ends where it ends. */
  readonly from: number;
  readonly end: number;
  readonly isOpen: boolean;
}

const NOTHING = new Uint8Array(0);

/**
 * Hides secrets in bytes that come in chunks. It decides by content alone: the same bytes give the same result however
 * they are cut. Hidden spans may overlap, since the end of one token can be the start of a secret; a union of spans is
 * shown as the label of the one that starts first.
 *
 * Held back between chunks is only what may yet turn out to be secret: a partial needle (MAX_NEEDLE_BYTES at most), an
 * undecided token (about 4 KB at most, a JWT's header), a needle that goes on in the next line (8 KB at most), and a few
 * bytes to look behind.
 */
export class RedactionScanner {
  private held: Uint8Array = NOTHING;
  /** How much of `held` has been given out already and is kept only to look behind. */
  private given = 0;
  private hiddenUntil = 0;
  private state = 0;
  private spans: Span[] = [];
  private candidates: Candidate[] = [];
  private readonly tails = new Map<number, FollowedTail>();
  private wrapped: WrappedNeedle[] = [];

  constructor(
    private readonly automaton: Automaton,
    private readonly labelOf: LabelOf,
  ) {}

  write(chunk: Uint8Array): Uint8Array {
    return chunk.length === 0 ? NOTHING : this.scan(chunk, false);
  }

  /** Most streams stay empty, and after the first byte something is always held to look behind. */
  end(): Uint8Array {
    return this.held.length === 0 ? NOTHING : this.scan(NOTHING, true);
  }

  /** The whole of a text at once; the very same bytes if there was nothing to hide. */
  finish(bytes: Uint8Array): Uint8Array {
    const shown = this.scan(bytes, true);
    return shown.buffer === bytes.buffer && shown.length === bytes.length ? bytes : shown;
  }

  private scan(chunk: Uint8Array, isLast: boolean): Uint8Array {
    const from = this.held.length;
    const bytes = from === 0 ? chunk : join(this.held, chunk);
    const seen: Seen = { bytes, length: bytes.length, isLast };
    this.extendTails(seen, from);
    for (const needle of this.wrapped) this.extendWrapped(needle, seen);
    const undecided = this.candidates;
    this.candidates = [];
    for (const candidate of undecided) this.decide(candidate, seen);
    this.search(seen, from);
    const safe = isLast ? bytes.length : this.firstUndecided(bytes.length);
    const result = this.give(bytes, safe);
    if (!isLast) this.keepFrom(bytes, Math.max(0, safe - LOOK_BEHIND_BYTES), safe);
    return result;
  }

  private search(seen: Seen, from: number): void {
    const { rows, denseStates } = this.automaton;
    const { bytes, length } = seen;
    let state = this.state;
    let before = state;
    let at = from;
    while (at < length) {
      if (state >= denseStates) {
        before = state;
        state = this.automaton.step(state, bytes[at++]!);
      } else {
        do {
          before = state;
          state = rows[(state << 8) | bytes[at++]!]!;
        } while (state >= 0 && at < length);
        if (state >= 0) break;
        state = ~state;
      }
      if (isBreak(bytes[at - 1]!)) this.followOverBreak(before, at - 1, seen);
      this.report(state, at, seen);
    }
    this.state = state;
  }

  private followOverBreak(state: number, breakAt: number, seen: Seen): void {
    if (this.automaton.depth[state]! < this.automaton.followedFrom) return;
    this.wrapped = this.wrapped.filter(({ diedAt }) => diedAt === null || diedAt > breakAt);
    if (this.wrapped.length === MAX_FOLLOWED) return;
    const needle = new WrappedNeedle(this.automaton, state, breakAt);
    this.extendWrapped(needle, seen);
    this.wrapped.push(needle);
  }

  private extendWrapped(needle: WrappedNeedle, { bytes, length }: Seen): void {
    needle.extend(bytes, length, (span) => this.spans.push(span));
  }

  private report(state: number, at: number, seen: Seen): void {
    const length = this.automaton.needleLength[state]!;
    if (length > 0)
      this.spans.push({ start: at - length, end: at, secret: this.automaton.needleSecret[state]! });
    const triggers = this.automaton.triggers[state];
    if (triggers) for (const { shape, text } of triggers) this.decide({ shape, trigger: text, at }, seen);
  }

  private decide(candidate: Candidate, seen: Seen): void {
    const answer = SHAPES[candidate.shape]!.match(seen, candidate.at, candidate.trigger);
    if (answer === "more") this.candidates.push(candidate);
    else if (answer !== null) this.hide(answer, seen);
  }

  private hide(hit: Hit, seen: Seen): void {
    const end = hit.tail === 0 ? hit.end : this.followTail(hit, seen);
    this.spans.push({ start: hit.start, end, secret: SHAPE_LABEL });
  }

  /** The end of a token's tail. Each byte is walked once for each kind of tail, whatever the input. */
  private followTail(hit: Hit, seen: Seen): number {
    const known = this.tails.get(hit.tail);
    if (known && hit.end >= known.from && (hit.end < known.end || known.isOpen)) return known.end;
    const tail = openTail(hit.tail);
    const end = tail.extend(seen.bytes, hit.end, seen.length);
    const isOpen = end === seen.length && !seen.isLast;
    // A token that was decided late may lie before one that still goes on: that one must not be forgotten.
    if (isOpen || !known?.isOpen) this.tails.set(hit.tail, { tail, from: hit.end, end, isOpen });
    return end;
  }

  private extendTails(seen: Seen, from: number): void {
    for (const [kinds, followed] of this.tails) {
      if (!followed.isOpen) continue;
      const end = followed.tail.extend(seen.bytes, from, seen.length);
      this.tails.set(kinds, { ...followed, end, isOpen: end === seen.length && !seen.isLast });
      // Overlaps its first part by one byte, so that both are one span.
      if (end > from) this.spans.push({ start: from - 1, end, secret: SHAPE_LABEL });
    }
  }

  private firstUndecided(length: number): number {
    let first = length - this.automaton.depth[this.state]!;
    for (const { at, trigger } of this.candidates) first = Math.min(first, at - trigger.length);
    for (const { diedAt, start } of this.wrapped) if (diedAt === null) first = Math.min(first, start);
    return Math.max(first, this.given);
  }

  /** What may be shown of the bytes before `safe`; every span that starts there is known by now. */
  private give(bytes: Uint8Array, safe: number): Uint8Array {
    if (this.spans.length === 0 && this.hiddenUntil <= this.given) return bytes.subarray(this.given, safe);
    this.spans.sort(byStartThenName);
    const parts: Uint8Array[] = [];
    let shown = Math.max(this.given, this.hiddenUntil);
    let next = 0;
    for (; next < this.spans.length && this.spans[next]!.start < safe; next++) {
      const { start, end, secret } = this.spans[next]!;
      if (start >= this.hiddenUntil) {
        parts.push(bytes.subarray(shown, start), this.labelOf(secret));
        this.hiddenUntil = end;
      } else this.hiddenUntil = Math.max(this.hiddenUntil, end);
      shown = Math.max(shown, this.hiddenUntil);
    }
    this.spans = this.spans.slice(next);
    if (shown < safe) parts.push(bytes.subarray(shown, safe));
    return joinAll(parts);
  }

  /** Keeps the bytes from `keep` on and moves every place to the new start. */
  private keepFrom(bytes: Uint8Array, keep: number, given: number): void {
    this.held = bytes.slice(keep);
    this.given = given - keep;
    this.hiddenUntil -= keep;
    if (keep === 0) return;
    this.spans = this.spans.map((span) => ({ ...span, start: span.start - keep, end: span.end - keep }));
    this.candidates = this.candidates.map((candidate) => ({ ...candidate, at: candidate.at - keep }));
    for (const needle of this.wrapped) needle.move(keep);
    for (const [kinds, followed] of this.tails) {
      this.tails.set(kinds, { ...followed, from: followed.from - keep, end: followed.end - keep });
    }
  }
}

/** Sorts spans by their start. If several start together, a named one provides the label. */
function byStartThenName(a: Span, b: Span): number {
  return a.start - b.start || b.secret - a.secret || b.end - a.end;
}

function join(first: Uint8Array, second: Uint8Array): Uint8Array {
  const joined = new Uint8Array(first.length + second.length);
  joined.set(first);
  joined.set(second, first.length);
  return joined;
}

function joinAll(parts: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}
