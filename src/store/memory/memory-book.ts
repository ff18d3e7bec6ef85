import { type BookEntry, bookKey } from "../../core/book/book-entry.js";
import type { BookRow } from "../../core/book/book-row.js";
import type { JobRow, RunRow } from "../../core/model/rows.js";
import { type BookStore, comparePlaces, type EndedJobs, isAskedFor, uncounted } from "../book-rows.js";
import { DUTY_LEASE } from "../duties.js";
import { toStorableText } from "../storable-text.js";
import { type MemoryTables, type OpenTables, parseRow } from "./memory-tables.js";

export function createBookVerbs(open: OpenTables): BookStore {
  return {
    async listEntries({ after, limit, ...filter }) {
      return entriesOf(open())
        .filter((entry) => isAskedFor(entry, filter))
        .sort((a, b) => comparePlaces(b, a))
        .filter((entry) => after === undefined || comparePlaces(entry, after) < 0)
        .slice(0, limit);
    },
    async readEntries(keys) {
      const { book } = open();
      return keys.flatMap((key) => {
        const text = book.get(bookKey(key));
        return text === undefined ? [] : [parseRow<BookEntry>(text)];
      });
    },
    async listUnrolled(after, limit) {
      return rowsOf(open())
        .filter(({ rolled }) => !rolled)
        .map(({ row }) => row)
        .filter(
          (row) =>
            after === null ||
            row.run_id - after.run_id > 0 ||
            (row.run_id === after.run_id && row.n > after.n),
        )
        .sort((a, b) => a.run_id - b.run_id || a.n - b.n)
        .slice(0, limit);
    },
    async listBookRows({ signature, workflow, step, since, flakes, met, limit }) {
      const tables = open();
      return rowsOf(tables)
        .map(({ row }) => row)
        .filter(({ run_id }) => tables.runs.has(run_id))
        .filter((row) => flakes === undefined || row.flake_ms !== null)
        .filter((row) => met === undefined || row.kind === "met")
        .filter((row) => signature === undefined || row.signature === signature)
        .filter((row) => workflow === undefined || row.workflow === workflow)
        .filter((row) => step === undefined || row.step === step)
        .filter((row) => since === undefined || row.at >= since)
        .sort((a, b) => b.at - a.at || b.run_id - a.run_id || b.n - a.n)
        .slice(0, limit);
    },
    async rollUp({ fence, entries, rows }) {
      const tables = open();
      if (tables.leaseOf(DUTY_LEASE.book)?.fence !== fence) return false;
      for (const entry of entries) putEntry(tables, entry, "counts");
      for (const { run_id, n } of rows) {
        const place = `${run_id}/${n}`;
        const text = tables.bookRows.get(place)?.text;
        if (text !== undefined && tables.runs.has(run_id)) tables.bookRows.set(place, { text, rolled: true });
        else tables.bookRows.delete(place);
      }
      return true;
    },
    async writeTriage(entry, triage) {
      const tables = open();
      const present = tables.book.get(bookKey(entry));
      const revision = present === undefined ? 0 : parseRow<BookEntry>(present).revision;
      if (revision !== entry.revision) return false;
      putEntry(tables, { ...uncounted(entry), ...triage, revision: revision + 1 }, "triage");
      return true;
    },
    async listBacklog(limit) {
      const { bookBacklog } = open();
      const runIds = [...bookBacklog].sort((a, b) => b - a).slice(0, limit);
      return { runIds, left: bookBacklog.size };
    },
    async backfill({ fence, runId, rows }) {
      const tables = open();
      if (tables.leaseOf(DUTY_LEASE.book)?.fence !== fence) return false;
      if (tables.runs.has(runId)) tables.putBookRows(rows);
      tables.bookBacklog.delete(runId);
      return true;
    },
    countEndedJobs: async (filter) => countEndedJobs(open(), filter),
  };
}

function entriesOf({ book }: MemoryTables): BookEntry[] {
  return Array.from(book.values(), (text) => parseRow<BookEntry>(text));
}

function rowsOf({ bookRows }: MemoryTables): { readonly row: BookRow; readonly rolled: boolean }[] {
  return Array.from(bookRows.values(), ({ text, rolled }) => ({ row: parseRow<BookRow>(text), rolled }));
}

/** What people say and what is counted are written apart, and neither touches the other. */
function putEntry({ book }: MemoryTables, entry: BookEntry, part: "counts" | "triage"): void {
  const key = bookKey(entry);
  const text = book.get(key);
  const present = text === undefined ? entry : parseRow<BookEntry>(text);
  const { triage, note, link, owner, muted_until, triaged_at, triaged_by, revision } =
    part === "triage" ? entry : present;
  const said = { triage, muted_until, triaged_at, revision };
  const words = { note: storable(note), link: storable(link), owner: storable(owner) };
  const counted = part === "counts" ? entry : present;
  const texts = { code: toStorableText(counted.code), sample: toStorableText(counted.sample) };
  book.set(
    key,
    JSON.stringify({ ...counted, ...texts, ...said, ...words, triaged_by: storable(triaged_by) }),
  );
}

function storable(text: string | null): string | null {
  return text === null ? null : toStorableText(text);
}

function countEndedJobs(
  { runs }: MemoryTables,
  { workflow, since, until }: { readonly workflow?: string; readonly since: number; readonly until: number },
): EndedJobs[] {
  const counts = new Map<string, EndedJobs>();
  for (const { run: text, jobs } of runs.values()) {
    const run = parseRow<RunRow>(text);
    if (run.created_at < since || run.created_at >= until || run.options.imported === true) continue;
    if (workflow !== undefined && run.workflow !== workflow) continue;
    for (const job of Array.from(jobs.values(), (each) => parseRow<JobRow>(each))) {
      if ((job.status !== "completed" && job.status !== "failed") || job.attempt_id === 0) continue;
      const key = JSON.stringify([run.workflow, job.step]);
      const count = counts.get(key)?.jobs ?? 0;
      counts.set(key, { workflow: run.workflow, step: job.step, jobs: count + 1 });
    }
  }
  return [...counts.values()];
}
