import { api, dataOf, Problem } from "../api/client.js";
import type { LogStreamName } from "./line-window.js";

export interface LogPlace {
  readonly jobId: number;
  readonly attempt: number;
  readonly stream: LogStreamName;
}

export interface LineItem {
  readonly line: number;
  readonly text: string;
  readonly cut?: { offset: number; bytes: number } | undefined;
  readonly error?: true | undefined;
}

/** Facts about the log as a whole. */
export interface LogFacts {
  readonly total: number;
  readonly size: number;
  readonly complete: boolean;
  readonly errorLines: readonly number[];
  readonly errorCount: number;
  /** The step printed more than its workflow allows, and the rest was dropped. */
  readonly truncated: boolean;
}

const PAGE_LINES = 200;
/** How many recently shown pages are cached. Others are read again when needed. */
const MAX_PAGES = 30;

/** The lines of one log, which are read when they become visible. */
export class LineStore {
  #facts: LogFacts | null = null;
  #problem: Problem | null = null;
  #version = 0;
  readonly #pages = new Map<number, readonly LineItem[]>();
  readonly #asked = new Set<number>();
  readonly #watchers = new Set<() => void>();
  #refreshing = false;

  constructor(readonly place: LogPlace) {}

  watch = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  };

  /** Increases with each change. */
  version = (): number => this.#version;

  get facts(): LogFacts | null {
    return this.#facts;
  }

  get problem(): Problem | null {
    return this.#problem;
  }

  /** The line; null while it is being read. */
  line(number: number): LineItem | null {
    const page = Math.floor((number - 1) / PAGE_LINES);
    const lines = this.#pages.get(page);
    const found = lines?.[(number - 1) % PAGE_LINES];
    if (found === undefined) void this.#readPage(page);
    return found ?? null;
  }

  /** Reads the present length of the log, and where its errors are. */
  async refresh(): Promise<void> {
    if (this.#refreshing) return;
    this.#refreshing = true;
    const last = Math.max(0, Math.floor(((this.#facts?.total ?? 1) - 1) / PAGE_LINES));
    await this.#readPage(last, true);
    this.#refreshing = false;
    if (this.#facts?.complete === false) void this.refresh();
  }

  async #readPage(page: number, again = false): Promise<void> {
    if (this.#asked.has(page) && !again) return;
    this.#asked.add(page);
    const first = page * PAGE_LINES + 1;
    const { jobId, attempt, stream } = this.place;
    const query = { attempt, stream, lines: `${first}:${first + PAGE_LINES - 1}` };
    try {
      const { lines, size, truncated } = await dataOf(
        api.GET("/api/v1/jobs/{job_id}/logs", { params: { path: { job_id: String(jobId) }, query } }),
      );
      if (lines === null) return;
      const { total, complete, error_lines: errorLines, error_count: errorCount } = lines;
      this.#facts = { total, size, complete, errorLines, errorCount, truncated };
      this.#keep(page, lines.items);
      this.#problem = null;
    } catch (error) {
      this.#problem = error instanceof Problem ? error : new Problem({ status: 0, title: String(error) });
    }
    this.#asked.delete(page);
    this.#version += 1;
    for (const watcher of this.#watchers) watcher();
  }

  #keep(page: number, items: readonly LineItem[]): void {
    this.#pages.delete(page);
    this.#pages.set(page, items);
    if (this.#pages.size > MAX_PAGES) this.#pages.delete(this.#pages.keys().next().value!);
  }
}

/** Reads the bytes of a log between two offsets, for a shortened line. */
export async function readBytes(
  { jobId, attempt, stream }: LogPlace,
  { offset, bytes }: { readonly offset: number; readonly bytes: number },
): Promise<string> {
  let text = "";
  for (let at = offset, end = offset + bytes; at < end; ) {
    const query = { attempt, stream, offset: at, limit_bytes: Math.min(end - at, 1_024 * 1_024) };
    const piece = await dataOf(
      api.GET("/api/v1/jobs/{job_id}/logs", { params: { path: { job_id: String(jobId) }, query } }),
    );
    text += piece.text;
    if (piece.next_offset <= at) break;
    at = piece.next_offset;
  }
  return text;
}

/** The address from which a browser downloads the whole log. */
export function downloadAddress({ jobId, attempt, stream }: LogPlace): string {
  return `/api/v1/jobs/${jobId}/logs?${new URLSearchParams({ attempt: String(attempt), stream, follow: "true" })}`;
}
