import { createParser } from "eventsource-parser";

/** The state of the event stream. */
export interface StreamState {
  readonly live: boolean;
  /** When the stream last showed a sign of life. The data on the page is as old as this. */
  readonly heardAt: number;
  /** The time of the next try. Null while one is in progress, or while the stream is connected. */
  readonly nextTryAt: number | null;
  /** The server requires a token, so there are no further tries until somebody signs in. */
  readonly refused: boolean;
}

/** Gets the changed runs. Null means that any data on the page may be stale. */
type Listener = (runIds: ReadonlySet<number> | null) => void;

const FIRST_RETRY_MS = 2_000;
const MAX_RETRY_MS = 15_000;
const REFUSED_STATUS: ReadonlySet<number> = new Set([401, 403]);
/** The page reloads data at most this often, however many events arrive. */
const GATHER_MS = 250;

/** One event stream for the whole page. After an interruption it continues where it was, so that no event is missed. */
class EventStream {
  #state: StreamState = { live: false, heardAt: Date.now(), nextTryAt: null, refused: false };
  #lastId: string | null = null;
  #running = false;
  readonly #listeners = new Set<Listener>();
  readonly #watchers = new Set<() => void>();
  #changed = new Set<number>();
  #timer: ReturnType<typeof setTimeout> | null = null;

  /** Connects. Call it again after signing in if it was refused. */
  start(): void {
    if (this.#running) return;
    this.#running = true;
    this.#tell({ refused: false });
    void this.#run();
  }

  tryNow(): void {
    this.#wake();
  }

  get state(): StreamState {
    return this.#state;
  }

  /** Calls the listener with the runs that have changed. */
  onChange(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  watch = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  };

  async #run(): Promise<void> {
    for (let wait = FIRST_RETRY_MS; ; wait = Math.min(wait * 2, MAX_RETRY_MS)) {
      const ended = await this.#read().catch(() => "lost" as const);
      if (ended === "refused") {
        this.#running = false;
        return this.#tell({ live: false, refused: true });
      }
      if (ended === "closed") wait = FIRST_RETRY_MS;
      this.#tell({ live: false, nextTryAt: Date.now() + wait });
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, wait);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.#tell({ nextTryAt: null });
    }
  }

  #wake: () => void = () => {};

  async #read(): Promise<"closed" | "refused" | "lost"> {
    const headers = {
      accept: "text/event-stream",
      ...(this.#lastId === null ? {} : { "last-event-id": this.#lastId }),
    };
    const response = await fetch("/api/v1/events", { headers });
    if (REFUSED_STATUS.has(response.status)) return "refused";
    if (!response.ok || response.body === null) return "lost";
    this.#tell({ live: true });
    for (const listener of this.#listeners) listener(null);
    const parser = createParser({
      onEvent: ({ id, data }) => {
        if (id !== undefined) this.#lastId = id;
        this.#announce((JSON.parse(data) as { run_id: number }).run_id);
      },
    });
    const text = response.body.pipeThrough(new TextDecoderStream());
    for (const reader = text.getReader(); ; ) {
      const { done, value } = await reader.read();
      if (done) return "closed";
      this.#tell({ live: true });
      parser.feed(value);
    }
  }

  #announce(runId: number): void {
    this.#changed.add(runId);
    this.#timer ??= setTimeout(() => {
      const changed = this.#changed;
      this.#changed = new Set();
      this.#timer = null;
      for (const listener of this.#listeners) listener(changed);
    }, GATHER_MS);
  }

  #tell(change: Partial<StreamState>): void {
    const old = this.#state;
    this.#state = { ...old, ...change, ...(change.live === true ? { heardAt: Date.now() } : {}) };
    const { live, nextTryAt, refused } = this.#state;
    if (live !== old.live || nextTryAt !== old.nextTryAt || refused !== old.refused)
      for (const watcher of this.#watchers) watcher();
  }
}

export const stream = new EventStream();
