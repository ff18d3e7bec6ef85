import type { Client, OutputOf } from "../../../operations/client.js";
import type { JobPlace } from "../../declare/typed-names.js";
import { type Session, writeBytes, writeJson, writeLines } from "../../terminal/channel.js";

type LogAnswer = OutputOf<"get_job_logs">;
type LineItem = NonNullable<LogAnswer["lines"]>["items"][number];
type Stream = "stdout" | "stderr";

/** Selects lines of a log. */
export interface LinesWanted {
  readonly lines?: string;
  readonly grep?: string;
  readonly regex?: boolean;
}

interface Attempt extends JobPlace {
  readonly attempt?: number;
  readonly recovery: boolean;
}

/** Prints the selected lines. Lines found by a search have their line number in front, as in grep. */
export async function showLogLines(
  client: Client,
  attempt: Attempt,
  wanted: LinesWanted,
  streams: readonly Stream[],
  session: Session,
): Promise<void> {
  if (session.options.json) return showJson(client, attempt, wanted, streams, session);
  let shown = 0;
  for (const stream of streams) {
    for await (const answer of answers(client, attempt, wanted, stream)) {
      const items = answer.lines?.items ?? [];
      if (shown === 0 && items.length > 0 && streams.length > 1 && session.err.isTerminal)
        writeLines(session.err, [session.err.paint("dim", `-- ${stream} --`)]);
      for (const item of items) {
        const number = wanted.grep === undefined ? "" : `${item.line}:`;
        await writeBytes(Buffer.from(number));
        await writeWhole(client, { ...attempt, attempt: answer.attempt, stream }, item);
      }
      shown += items.length;
    }
  }
  if (shown === 0 && !session.options.quiet)
    writeLines(session.err, [wanted.grep === undefined ? "no such lines" : "no line matches"]);
}

async function showJson(
  client: Client,
  attempt: Attempt,
  wanted: LinesWanted,
  streams: readonly Stream[],
  { out }: Session,
): Promise<void> {
  const found: { [stream in Stream]?: LogAnswer["lines"] } = {};
  let told: LogAnswer | null = null;
  for (const stream of streams) {
    told = await client.call("get_job_logs", { ...attempt, ...wanted, stream });
    found[stream] = told.lines;
  }
  if (told === null) return;
  const { step, scope, attempt: number, status } = told;
  writeJson(out, { step, scope, attempt: number, status, ...found });
}

/** Reads answers until the last selected line. */
async function* answers(
  client: Client,
  attempt: Attempt,
  wanted: LinesWanted,
  stream: Stream,
): AsyncGenerator<LogAnswer> {
  const last = /:(\d+)$/.exec(wanted.lines ?? "")?.[1] ?? "";
  for (let { lines } = wanted; ; ) {
    const asked = { ...attempt, ...wanted, stream, ...(lines === undefined ? {} : { lines }) };
    const answer = await client.call("get_job_logs", asked);
    if (answer.lines === null) return;
    // A long file is searched in parts, and the next one may have a match.
    if (!answer.lines.complete && answer.lines.items.length === 0) continue;
    yield answer;
    if (answer.lines.next_line === null) return;
    lines = `${answer.lines.next_line}:${last}`;
  }
}

/** Writes a line. One that was shortened in the answer is read in full by its position in the file. */
async function writeWhole(
  client: Client,
  place: Attempt & { readonly stream: Stream },
  { text, cut }: LineItem,
): Promise<void> {
  if (cut === undefined) return writeBytes(Buffer.from(`${text}\n`));
  for (let { offset } = cut, end = cut.offset + cut.bytes; offset < end; ) {
    const asked = { ...place, offset, limit_bytes: Math.min(end - offset, 1_024 * 1_024) };
    const piece = await client.call("get_job_logs", { ...asked, encoding: "base64" });
    await writeBytes(Buffer.from(piece.text, "base64"));
    if (piece.next_offset <= offset) break;
    offset = piece.next_offset;
  }
  await writeBytes(Buffer.from("\n"));
}
