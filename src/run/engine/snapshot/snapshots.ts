import { createHash } from "node:crypto";
import { deflateRaw, deflateRawSync, inflateRawSync } from "node:zlib";
import type { Run } from "../../../core/model/run.js";
import { decodeRun } from "../../../core/snapshot/decode-run.js";
import { encodeRun, snapshotVersion } from "../../../core/snapshot/encode-run.js";
import type { Store, StoredSnapshot } from "../../../store/store.js";
import type { RunHost } from "../run-host.js";

/** Limit before compression. A larger run has no snapshot, so its log is read instead. */
const MAX_SNAPSHOT_BYTES = 256 * 1_024 * 1_024;
/** Speed matters more than size here. At this level 15 MB of a plain run become 1 MB. */
const LEVEL = 1;
const CHUNK_CHARS = 256 * 1_024;
/** A smaller run is compressed at once, because that takes less time than a thread needs to begin. */
const AT_ONCE_BYTES = 64 * 1_024;
const NEWLINE = 10;

/** A copy of the run, not compressed yet; null if it is too large. */
export function copyRun(run: Run, maxBytes = MAX_SNAPSHOT_BYTES): Buffer[] | null {
  const chunks: Buffer[] = [];
  let [text, bytes] = ["", 0];
  const put = (): boolean => {
    const chunk = Buffer.from(text);
    text = "";
    bytes += chunk.length;
    return bytes <= maxBytes && chunks.push(chunk) > 0;
  };
  for (const line of encodeRun(run)) {
    text += `${line}\n`;
    if (text.length >= CHUNK_CHARS && !put()) return null;
  }
  return put() ? chunks : null;
}

export async function packCopy(copy: readonly Buffer[], runId: number, seq: number): Promise<StoredSnapshot> {
  const bytes = await compress(Buffer.concat(copy));
  return { runId, seq, version: snapshotVersion(), sha256: digestOf(bytes), bytes };
}

async function compress(bytes: Buffer): Promise<Uint8Array> {
  if (bytes.length <= AT_ONCE_BYTES) return deflateRawSync(bytes, { level: LEVEL });
  return new Promise((resolve, reject) => {
    deflateRaw(bytes, { level: LEVEL }, (error, packed) =>
      error === null ? resolve(packed) : reject(error),
    );
  });
}

/**
 * Restores a snapshot into a run that `newRun` has just made. Returns false if it is incomplete or of another version;
 * the run is unusable then.
 */
export function unpackRun(run: Run, { version, sha256, bytes }: StoredSnapshot): boolean {
  if (version !== snapshotVersion() || digestOf(bytes) !== sha256) return false;
  try {
    decodeRun(run, linesOf(inflateRawSync(bytes)));
    return true;
  } catch {
    return false;
  }
}

/** Reads line by line, because one text would need the memory twice. */
function* linesOf(bytes: Buffer): Generator<string> {
  for (
    let [from, to] = [0, bytes.indexOf(NEWLINE)];
    to >= 0;
    from = to + 1, to = bytes.indexOf(NEWLINE, from)
  )
    yield bytes.toString("utf8", from, to);
}

function digestOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** Fewer events are folded in no time. */
const MIN_EVENTS = 20_000;
/**
 * A job that starts and completes has two events, so a plain run gets no snapshot however wide it is: copying a job
 * takes 4 us and saves a fraction of folding its first two events, which takes 10, and the run would be nearly over by
 * then.
 */
const EVENTS_PER_JOB = 3;

/**
 * Saves the state of long runs beside their logs, so that the next engine that takes one need not begin at its first
 * event. Saving may fail, because the log suffices.
 */
export class SnapshotKeeper {
  private writing: Promise<void> = Promise.resolve();

  constructor(
    private readonly store: Pick<Store, "putSnapshot">,
    private readonly every: number | null = null,
  ) {}

  /**
   * Returns what to do after the commit of the decisions that the host has just handed over: only now does the run
   * match its future log. Null if it is too soon.
   */
  take(host: RunHost): (() => void) | null {
    const { run, lastSeq } = host;
    const every = this.every ?? Math.max(MIN_EVENTS, EVENTS_PER_JOB * run.jobs.length);
    if (host.isOver || lastSeq - host.snapshotSeq < every) return null;
    host.snapshotSeq = lastSeq;
    const copy = copyOf(host);
    if (copy === null) return null;
    return () => {
      this.writing = this.writing
        .then(() => packCopy(copy, run.id, lastSeq))
        .then((snapshot) => this.store.putSnapshot(snapshot))
        .catch(() => {});
    };
  }
}

/** A copy of the run; null if it is too large or cannot be serialised. The run continues without a snapshot. */
function copyOf({ run }: RunHost): Buffer[] | null {
  try {
    return copyRun(run);
  } catch {
    return null;
  }
}
