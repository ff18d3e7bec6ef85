import type { BookRow } from "../../src/core/book/book.js";
import { replay } from "../../src/core/decide/decision.js";
import type { Event } from "../../src/core/model/events.js";
import { newRun } from "../../src/core/model/make-run.js";
import { readDefinition, readPages } from "../../src/run/engine/load-run.js";
import type { Store } from "../../src/store/store.js";

/** What the log of a run tells the failure book: the rows that its engine writes. */
export async function rowsOfLog(store: Store, runId: number): Promise<BookRow[]> {
  const [first] = await store.readEvents(runId, { limit: 1 });
  const created = first!.event as Extract<Event, { type: "run.created" }>;
  const definition = await readDefinition(store, runId, created.definition_hash);
  const run = newRun(runId, definition, created, first!.at);
  const rows: BookRow[] = [];
  for await (const page of readPages(store, runId, { afterSeq: 0 })) {
    replay(run, page);
    rows.push(...run.book.unwritten.splice(0));
  }
  return rows;
}
