import type { Definition } from "../../../core/model/definition.js";
import type { Client } from "../../../operations/client.js";
import { type EventItem, loggedEvent } from "../../../operations/runs/event-item.js";
import { ReplayedRun } from "../../../report/lookup/replayed-log.js";
import type { RunReference } from "../../../report/lookup/run-reference.js";
import { eventText } from "../../../report/words/event-text.js";
import type { Present } from "../../declare/presenter.js";
import { shownLine } from "../../render/paint.js";
import { elapsed } from "../../render/plain-progress.js";
import { type Channel, jsonText, type Session } from "../../terminal/channel.js";

const PAGE = 1_000;
const TYPE_WIDTH = 22;
const SEQ_WIDTH = 5;
/** Lines are handed over in pieces of this size, so that a long log neither waits for its end nor goes line by line. */
const PIECE_CHARS = 64 * 1_024;

export const events: Present = async ({ input, flags }, session, client) => {
  const reference = input.run_id as RunReference;
  const { line, runId } = await linesFor(client, reference, session);
  const pieces = new Pieces(session.out);
  const log = flags.follow === true ? followed(client, runId) : readAll(client, runId);
  for await (const event of log) pieces.add(`${line(event)}\n`);
  pieces.flush();
  return 0;
};

async function linesFor(
  client: Client,
  reference: RunReference,
  { options }: Session,
): Promise<{ line: (event: EventItem) => string; runId: number }> {
  const { run_id: runId, definition } = await client.call("get_run_definition", { run_id: reference });
  if (options.json) return { line: (event) => jsonText(event), runId };
  const replay = new ReplayedRun(runId, () => definition as unknown as Definition);
  let startedAt: number | null = null;
  const line = (event: EventItem): string => {
    const logged = loggedEvent(event);
    startedAt ??= logged.at;
    const run = replay.fold(logged);
    const seq = String(logged.seq).padStart(SEQ_WIDTH);
    const text = `${seq} ${elapsed(logged.at - startedAt)}  ${logged.event.type.padEnd(TYPE_WIDTH)} ${eventText(run, logged.event)}`;
    return shownLine(text.trimEnd());
  };
  return { line, runId };
}

async function* readAll(client: Client, runId: number): AsyncGenerator<EventItem> {
  for (let after = 0; ; ) {
    const page = await client.call("list_run_events", { run_id: runId, after, limit: PAGE });
    yield* page.items as EventItem[];
    if (page.next === null) return;
    after = page.next;
  }
}

/** Waits for more until the run is over. */
async function* followed(client: Client, runId: number): AsyncGenerator<EventItem> {
  const stream = client.stream("list_run_events", { run_id: runId }, new AbortController().signal);
  for await (const { data } of stream) yield data as EventItem;
}

/** Text that is written when much has come together, or nothing more comes at once. */
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
