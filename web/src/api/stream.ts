import { createParser } from "eventsource-parser";

/** What the page knows of the stream of events. */
export interface StreamState {
  readonly live: boolean;
  /** When the last sign came; the data on the page is as old as this. */
  readonly heardAt: number;
}

/** Null: whatever is on the page may be old. */
type Listener = (runIds: ReadonlySet<number> | null) => void;

const RETRY_MS = 2_000;
/** However many events come, the page reads anew this often at most. */
const GATHER_MS = 250;

/** One stream for the whole page. After a break it goes on where it was, so that nothing is missed. */
class EventStream {
  #state: StreamState = { live: false, heardAt: Date.now() };
  #lastId: string | null = null;
  #running = false;
  readonly #listeners = new Set<Listener>();
  readonly #watchers = new Set<() => void>();
  #changed = new Set<number>();
  #timer: ReturnType<typeof setTimeout> | null = null;

  start(): void {
    if (this.#running) return;
    this.#running = true;
    void this.#run();
  }

  get state(): StreamState {
    return this.#state;
  }

  /** Told which runs have changed. */
  onChange(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  watch = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  };

  async #run(): Promise<void> {
    for (;;) {
      await this.#read().catch(() => {});
      this.#tell(false);
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }

  async #read(): Promise<void> {
    const headers = {
      accept: "text/event-stream",
      ...(this.#lastId === null ? {} : { "last-event-id": this.#lastId }),
    };
    const response = await fetch("/api/v1/events", { headers });
    if (!response.ok || response.body === null) return;
    this.#tell(true);
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
      if (done) return;
      this.#tell(true);
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

  #tell(live: boolean): void {
    const changed = live !== this.#state.live;
    this.#state = { live, heardAt: live ? Date.now() : this.#state.heardAt };
    if (changed) for (const watcher of this.#watchers) watcher();
  }
}

export const stream = new EventStream();
