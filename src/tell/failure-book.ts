import { type BookEntry, type BookKey, type BookRow, bookKey, sumRows } from "../core/book/book.js";
import { type BookPage, type BookStore, comparePlaces, isAskedFor } from "../store/book-rows.js";

const ROWS_AT_ONCE = 5_000;
/** Somebody rolls rows up while they are read. */
const MAX_TRIES = 5;

/** A page of the failure book, newest first, with what is not rolled up yet. */
export async function readBook(store: BookStore, page: BookPage): Promise<BookEntry[]> {
  return withUnrolled(store, async (changed) => {
    const { after, limit, ...filter } = page;
    const rolled = await store.listEntries({ ...page, limit: limit + changed.size });
    const fresh = [...changed.values()].filter(
      (entry) => isAskedFor(entry, filter) && (after === undefined || comparePlaces(entry, after) < 0),
    );
    return [...rolled.filter((entry) => !changed.has(bookKey(entry))), ...fresh]
      .sort((a, b) => comparePlaces(b, a))
      .slice(0, limit);
  });
}

/** `read` gets the entries that unrolled rows change, as they are with them. */
async function withUnrolled<T>(
  store: BookStore,
  read: (changed: ReadonlyMap<string, BookEntry>) => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    const rows = await allUnrolled(store);
    const keys: BookKey[] = [...new Map(rows.map((row) => [bookKey(row), row])).values()];
    const present = keys.length === 0 ? [] : await store.readEntries(keys);
    const answer = await read(sumRows(new Map(present.map((each) => [bookKey(each), each])), rows));
    const [first] = await store.listUnrolled(null, 1);
    // Rows are rolled up in this order: if the first still waits, none of them was counted twice.
    const isSame = rows[0]?.run_id === first?.run_id && rows[0]?.n === first?.n;
    if (isSame || rows.length === 0 || tries === MAX_TRIES) return answer;
  }
}

async function allUnrolled(store: BookStore): Promise<BookRow[]> {
  const rows: BookRow[] = [];
  for (;;) {
    const page = await store.listUnrolled(rows.at(-1) ?? null, ROWS_AT_ONCE);
    for (const row of page) rows.push(row);
    if (page.length < ROWS_AT_ONCE) return rows;
  }
}
