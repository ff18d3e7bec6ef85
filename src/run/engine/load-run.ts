import { replay } from "../../core/decide/decision.js";
import { DarumaError } from "../../core/errors/errors.js";
import type { Definition } from "../../core/model/definition.js";
import type { LoggedEvent } from "../../core/model/events.js";
import { newRun } from "../../core/model/make-run.js";
import type { Run } from "../../core/model/run.js";
import { parseStoredDefinition } from "../../core/model/stored-definition.js";
import type { Store, StoredSnapshot } from "../../store/store.js";
import { unpackRun } from "./snapshot/snapshots.js";

export interface LoadedRun {
  readonly run: Run;
  readonly nextSeq: number;
  /** The last event in its snapshot; 0 if there was none to use. */
  readonly snapshotSeq: number;
}

const PAGE_EVENTS = 5_000;
/** With more jobs, reading the whole log is faster than reading it job by job. */
const MAX_JOBS_ASKED = 1_000;

/** Loads a run from its log, or its state before one of its events. What a snapshot contains is not read again. */
export async function loadRun(
  store: Store,
  runId: number,
  { beforeSeq }: { readonly beforeSeq?: number } = {},
): Promise<LoadedRun> {
  const [first] = await store.readEvents(runId, { limit: 1 });
  if (first === undefined || first.event.type !== "run.created" || beforeSeq === 1)
    throw new DarumaError("RUN_NOT_FOUND", `there is no run ${runId}`);
  const { event, at } = first;
  const [definition, snapshot] = await Promise.all([
    readDefinition(store, runId, event.definition_hash),
    readSnapshot(store, runId, beforeSeq),
  ]);
  const begin = (): Run => newRun(runId, definition, event, at);
  let run = begin();
  let snapshotSeq = 0;
  if (snapshot !== null) {
    if (unpackRun(run, snapshot)) snapshotSeq = snapshot.seq;
    else run = begin();
  }
  let last = snapshotSeq;
  for await (const page of readPages(store, runId, { afterSeq: snapshotSeq, beforeSeq })) {
    replay(run, page);
    run.book.unwritten = [];
    last = page.at(-1)!.seq;
  }
  run.dirty.clear();
  return { run, nextSeq: last + 1, snapshotSeq };
}

/** The snapshot; null if there is none, or if it is of a later time or a longer log. */
async function readSnapshot(
  store: Store,
  runId: number,
  beforeSeq = Number.POSITIVE_INFINITY,
): Promise<StoredSnapshot | null> {
  const snapshot = await store.readSnapshot(runId);
  if (snapshot === null || snapshot.seq >= beforeSeq) return null;
  const [there] = await store.readEvents(runId, { afterSeq: snapshot.seq - 1, limit: 1 });
  return there === undefined ? null : snapshot;
}

export async function readDefinition(store: Store, runId: number, hash: string): Promise<Definition> {
  const text = await store.readDefinition(hash);
  if (text === null)
    throw new DarumaError("STORE_FAILED", `the definition of run ${runId} is missing from the store`);
  return parseStoredDefinition(text, hash);
}

interface Part {
  readonly afterSeq: number;
  readonly beforeSeq?: number | undefined;
}

/** Reads a log page by page. While a page is being processed, the next one is read. */
export async function* readPages(
  store: Pick<Store, "readEvents">,
  runId: number,
  { afterSeq, beforeSeq = Number.POSITIVE_INFINITY }: Part,
): AsyncGenerator<readonly LoggedEvent[]> {
  const read = (after: number): Promise<LoggedEvent[]> => {
    const limit = Math.max(0, Math.min(PAGE_EVENTS, beforeSeq - 1 - after));
    const page = store.readEvents(runId, { afterSeq: after, limit });
    // Its error is handled when its turn comes, if it does.
    page.catch(() => {});
    return page;
  };
  for (let [after, next] = [afterSeq, read(afterSeq)]; ; ) {
    const page = await next;
    after += PAGE_EVENTS;
    if (page.length === PAGE_EVENTS) next = read(after);
    if (page.length > 0) yield page;
    if (page.length < PAGE_EVENTS) return;
  }
}

/**
 * The part of a run's log that counters need to continue: all events of jobs that have begun but not completed, and
 * those that made jobs begin again. All other events are already counted.
 */
export async function readRecalledLog(store: Store, run: Run): Promise<LoggedEvent[]> {
  const open = run.jobs.filter(
    ({ attempt, climbed, status }) => status !== "completed" && (attempt > 0 || climbed.length > 0),
  );
  const log: LoggedEvent[] = [];
  if (open.length > MAX_JOBS_ASKED) {
    for await (const page of readPages(store, run.id, { afterSeq: 0 }))
      for (const each of page) log.push(each);
    return log;
  }
  log.push(...(await store.readEvents(run.id, { types: ["jobs.retried", "barrier.closed"] })));
  for (const { id } of open) log.push(...(await store.readEvents(run.id, { job: id })));
  return log.sort((first, second) => first.seq - second.seq);
}
