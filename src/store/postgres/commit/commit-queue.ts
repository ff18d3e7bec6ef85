import { DarumaError } from "../../../core/errors/errors.js";
import { EVENT_JOB_PATTERN } from "../../event-job.js";
import { refuseWithoutSlot } from "../../group-slots.js";
import { toJsonRows } from "../../json-rows.js";
import type { Append, StoreChange } from "../../store.js";
import { TABLES } from "../../tables.js";
import { type RunPosition, refuseStaleAppend, refuseTakenCause } from "../../write-rules.js";
import type { Announcements } from "../announcements.js";
import type { Parameter, Session } from "../connection-pool.js";
import { type Database, toArrayLiteral } from "../database.js";
import { codeOf, detailOf, isTakenCause, REFUSED_PLACE_STATE, REFUSED_STATE } from "../postgres-errors.js";
import { COMMIT_CALL } from "./commit-function.js";

const EVENT_JOB = new RegExp(EVENT_JOB_PATTERN);

/** The parameters of `COMMIT_CALL`. `changes` are notified with the commit. */
function toCommitParameters(appends: readonly Append[], changes: readonly string[]): Parameter[] {
  return [
    ...describeAppends(appends),
    ...describeEvents(appends),
    toJsonRows(
      TABLES.run,
      appends.flatMap(({ run }) => run ?? []),
    ),
    toJsonRows(
      TABLES.job,
      appends.flatMap(({ jobs }) => jobs),
    ),
    toJsonRows(
      TABLES.attempt,
      appends.flatMap(({ attempts }) => attempts),
    ),
    toJsonRows(
      TABLES.route,
      appends.flatMap(({ routes }) => routes),
    ),
    toJsonRows(
      TABLES.checkpoint,
      appends.flatMap(({ checkpoints = [] }) => checkpoints),
    ),
    toJsonRows(
      TABLES.book_row,
      appends.flatMap(({ book = [] }) => book),
    ),
    toJsonRows(
      TABLES.outbox,
      appends.flatMap(({ outbox = [] }) => outbox),
    ),
    toArrayLiteral(changes),
  ];
}

/** The run, the token, the first event, and where an earlier append of the same call ends. */
function describeAppends(appends: readonly Append[]): string[] {
  const ends = new Map<number, number>();
  const known: string[] = [];
  for (const { runId, firstSeq, events } of appends) {
    known.push(String(ends.get(runId) ?? "NULL"));
    ends.set(runId, firstSeq + events.length - 1);
  }
  return [
    toArrayLiteral(appends.map(({ runId }) => runId)),
    toArrayLiteral(appends.map(({ fence }) => fence)),
    toArrayLiteral(appends.map(({ firstSeq }) => firstSeq)),
    `{${known.join(",")}}`,
  ];
}

function describeEvents(appends: readonly Append[]): string[] {
  const [runIds, seqs, times, jobs]: [number[], number[], number[], number[]] = [[], [], [], []];
  const [types, data]: [string[], string[]] = [[], []];
  for (const append of appends) {
    for (const [index, event] of append.events.entries()) {
      runIds.push(append.runId);
      seqs.push(append.firstSeq + index);
      times.push(event.at);
      types.push(event.type);
      data.push(event.data);
      // 0 stands for no job.
      jobs.push(Number(EVENT_JOB.exec(event.data)?.[1] ?? 0));
    }
  }
  return [runIds, seqs, times, types, data, jobs].map((column) => toArrayLiteral(column));
}

/** The text of a notification, without the sender's name. */
export function nameChange(kind: StoreChange["kind"], runId: number): string {
  return `${kind}:${runId}`;
}

/** How many waiting commits are tried in one transaction. */
const MAX_COMMITS_TOGETHER = 64;

interface Piece {
  readonly appends: readonly Append[];
  resolve(): void;
  reject(error: unknown): void;
}

/**
 * Writes commits in the order of their calls. While one is in progress the others wait, then go together in the next
 * transaction, so that they share one round trip and one sync. If one of them is refused, each is written alone.
 */
export class CommitQueue {
  readonly #waiting: Piece[] = [];
  #isWriting = false;

  constructor(
    private readonly db: Database,
    private readonly announcements: Announcements,
  ) {}

  commit(appends: readonly Append[]): Promise<void> {
    return this.db.hold(
      () =>
        new Promise((resolve, reject) => {
          this.#waiting.push({ appends, resolve, reject });
          if (!this.#isWriting) void this.#writeAll();
        }),
    );
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    while (this.#waiting.length > 0) {
      await this.#writeTogether(this.#waiting.splice(0, MAX_COMMITS_TOGETHER));
    }
    this.#isWriting = false;
  }

  async #writeTogether(pieces: readonly Piece[]): Promise<void> {
    const [first, ...others] = pieces;
    if (first === undefined) return;
    if (others.length === 0) return this.#writeAlone(first, false);
    let mayBeIn = false;
    try {
      await this.db.write((session, isRepeated) => {
        mayBeIn = isRepeated;
        return this.#send(
          session,
          pieces.flatMap(({ appends }) => appends),
        );
      });
      for (const piece of pieces) piece.resolve();
    } catch {
      for (const piece of pieces) await this.#writeAlone(piece, mayBeIn);
    }
  }

  async #writeAlone({ appends, resolve, reject }: Piece, mayBeIn: boolean): Promise<void> {
    try {
      await this.db.write(async (session, isRepeated) => {
        try {
          await this.#send(session, appends);
        } catch (error) {
          if (!(error instanceof DarumaError && (mayBeIn || isRepeated))) throw error;
          // The refusal may only mean that the first try succeeded and its answer was lost.
          if (!(await areIn(session, appends))) throw error;
          this.announcements.committed(appends, []);
        }
      });
      resolve();
    } catch (error) {
      reject(error);
    }
  }

  async #send(session: Session, appends: readonly Append[]): Promise<void> {
    const told = this.announcements.within(appends);
    try {
      await session.rows(COMMIT_CALL, ...toCommitParameters(appends, told));
      this.announcements.committed(appends, told);
    } catch (error) {
      if (codeOf(error) === REFUSED_STATE) refuse(error, appends);
      if (codeOf(error) === REFUSED_PLACE_STATE) refusePlace(error);
      if (isTakenCause(error)) await refuseTakenCauses(session, appends);
      throw error;
    }
  }
}

function refuse(error: unknown, appends: readonly Append[]): void {
  const { place, ...position } = detailOf<RunPosition & { readonly place: number }>(error);
  const append = appends[place - 1];
  if (append !== undefined) refuseStaleAppend(append, position);
}

function refusePlace(error: unknown): void {
  const { group, holders } = detailOf<{ group: string; holders: number[] }>(error);
  refuseWithoutSlot(group, holders);
}

/**
 * Refuses causes that other runs have. A faster commit is in by now, because otherwise its row would still be locked.
 */
async function refuseTakenCauses(session: Session, appends: readonly Append[]): Promise<void> {
  const inThisCall = new Map<string, number>();
  for (const { runId, run } of appends) {
    if (run === null || run.cause === null) continue;
    const [holder] = await session.rows<{ id: number }>("SELECT id FROM run WHERE cause = $1", run.cause);
    refuseTakenCause(runId, run.cause, holder?.id ?? inThisCall.get(run.cause) ?? runId);
    inThisCall.set(run.cause, runId);
  }
}

/** Whether every append is already in the log exactly as it would be written, under a token that is still ours. */
async function areIn(session: Session, appends: readonly Append[]): Promise<boolean> {
  for (const { runId, fence, firstSeq, events } of appends) {
    const [found] = await session.rows<{ data: string | null; at: number | null }>(
      `SELECT event.at, event.data FROM lease LEFT JOIN event ON event.run_id = lease.run_id AND event.seq = $3
       WHERE lease.run_id = $1 AND lease.fence = $2 AND lease.owner IS NOT NULL`,
      ...[runId, fence, firstSeq + events.length - 1],
    );
    if (found === undefined) return false;
    const last = events.at(-1);
    if (last !== undefined && (found.at !== last.at || found.data !== last.data)) return false;
  }
  return true;
}
