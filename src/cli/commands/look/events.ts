import type { Client, InputOf, OutputOf } from "../../../operations/client.js";
import type { EventItem } from "../../../operations/runs/event-item.js";
import { nameOf } from "../../../tell/lookup/job-name.js";
import { fieldsText, othersNamed } from "../../../tell/words/event-text.js";
import type { Present } from "../../declare/declaration.js";
import { shownLine } from "../../render/paint.js";
import { elapsed } from "../../render/plain-progress.js";
import { type Channel, jsonText } from "../../terminal/channel.js";

const PAGE = 1_000;
const TYPE_WIDTH = 22;
const SEQ_WIDTH = 5;
const NAMES_PER_READ = 100;
/** How many job names are cached, so that a long log takes no more memory than a short one. */
const MAX_NAMES_KEPT = 10_000;
/** Lines are written in pieces of this size: line by line is slow, and all at once would delay a long log. */
const PIECE_CHARS = 64 * 1_024;

export const events: Present = async ({ input, flags }, { out, options }, client) => {
  const { run_id, kind, step, text, names } = input as InputOf<"list_run_events">;
  const filter = { kind, step, text, names };
  // Times count from the first event, even if the filter leaves it out.
  const { items, run_id: runId } = await client.call("list_run_events", { run_id, limit: 1 });
  const pages = flags.follow === true ? followed(client, runId, filter) : allPages(client, runId, filter);
  const pieces = new Pieces(out);
  const told = new EventLines(client, runId, items[0] === undefined ? null : Date.parse(items[0].at));
  for await (const page of pages) {
    if (!options.json) await told.learnNames(page);
    for (const event of page) pieces.add(`${options.json ? jsonText(event) : told.line(event)}\n`);
  }
  pieces.flush();
  return 0;
};

/** Formats events as lines. An event has the name of its own job; names of other jobs are looked up. */
class EventLines {
  private readonly names = new Map<number, string>();
  private last = { at: "", elapsed: "" };

  constructor(
    private readonly client: Client,
    private readonly runId: number,
    private startedAt: number | null,
  ) {}

  /** Looks up the names of further jobs in these events. */
  async learnNames(page: readonly EventItem[]): Promise<void> {
    if (this.names.size > MAX_NAMES_KEPT) this.names.clear();
    for (const event of page)
      for (const id of othersNamed(event)) if (!this.names.has(id)) await this.learn(id);
  }

  /** Looks a job up together with its neighbours, since nearby events are about jobs that were created together. */
  private async learn(id: number): Promise<void> {
    const wanted = { run_id: this.runId, after: id - 1, limit: NAMES_PER_READ };
    const { items } = await this.client.call("list_jobs", wanted);
    for (const { id: found, step, scope } of items) this.names.set(found, nameOf(step, scope));
    if (!this.names.has(id)) this.names.set(id, String(id));
  }

  line(event: EventItem): string {
    const seq = String(event.seq).padStart(SEQ_WIDTH);
    const fields = fieldsText(event, (id) => this.nameIn(event, id));
    const text = `${seq} ${this.elapsedAt(event.at)}  ${event.type.padEnd(TYPE_WIDTH)} ${fields}`;
    return shownLine(text.trimEnd());
  }

  /** The elapsed time, cached because many events have the same time. */
  private elapsedAt(time: string): string {
    if (this.last.at === time) return this.last.elapsed;
    const at = Date.parse(time);
    this.startedAt ??= at;
    this.last = { at: time, elapsed: elapsed(at - this.startedAt) };
    return this.last.elapsed;
  }

  private nameIn({ job, step, scope }: EventItem, id: number): string | null {
    return id === job && step !== undefined ? nameOf(step, scope ?? "root") : (this.names.get(id) ?? null);
  }
}

type Filter = Pick<InputOf<"list_run_events">, "kind" | "step" | "text">;

/** All events in the log. */
async function* allPages(client: Client, run_id: number, filter: Filter): AsyncGenerator<EventItem[]> {
  for (let after: number | null = 0; after !== null; ) {
    const page: OutputOf<"list_run_events"> = await client.call("list_run_events", {
      ...{ run_id, after, limit: PAGE },
      ...filter,
    });
    yield page.items as EventItem[];
    after = page.next;
  }
}

/** All events, including new ones until the run is over. */
async function* followed(client: Client, run_id: number, filter: Filter): AsyncGenerator<EventItem[]> {
  const stream = client.stream("list_run_events", { run_id, ...filter }, new AbortController().signal);
  for await (const { data } of stream) yield [data as EventItem];
}

/** Collects text and writes it once there is much of it, or once no more comes in this turn. */
export class Pieces {
  private text = "";
  private timer: NodeJS.Immediate | null = null;

  constructor(private readonly out: Channel) {}

  add(text: string): void {
    this.text += text;
    if (this.text.length > PIECE_CHARS) this.flush();
    else this.timer ??= setImmediate(() => this.flush());
  }

  flush(): void {
    if (this.timer !== null) clearImmediate(this.timer);
    this.timer = null;
    if (this.text !== "") this.out.write(this.text);
    this.text = "";
  }
}
