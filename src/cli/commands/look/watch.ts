import { DarumaError } from "../../../core/errors/errors.js";
import { oneLine } from "../../../core/text/plain-text.js";
import type { InputOf } from "../../../operations/client.js";
import type { RunEventItem } from "../../../operations/runs/event-item.js";
import { nameOf } from "../../../tell/lookup/job-name.js";
import type { RunReference } from "../../../tell/lookup/run-reference.js";
import type { Present } from "../../declare/declaration.js";
import { shownLine } from "../../render/paint.js";
import { jsonText } from "../../terminal/channel.js";
import { Pieces } from "./events.js";

const TYPE_WIDTH = 22;
const RUN_WIDTH = 6;
const MAX_MESSAGE_CHARS = 200;

/** Prints the events of all runs, one per line, until interrupted. With a run, follows it until it rests. */
export const watch: Present = async ({ input, args, flags }, session, client) => {
  const { out, options } = session;
  const [reference] = args as [RunReference | undefined];
  if (reference !== undefined)
    return (await import("../recover/watch-run.js")).watchRun(reference, flags, session, client);
  if (flags.recover === true)
    throw new DarumaError("USAGE", "--recover needs a run", { hint: "Write `daruma watch RUN --recover`." });
  const pieces = new Pieces(out);
  const stream = client.stream("list_events", input as InputOf<"list_events">, new AbortController().signal);
  for await (const { data } of stream) {
    const event = data as RunEventItem;
    pieces.add(`${options.json ? jsonText(event) : eventLine(event)}\n`);
  }
  return 0;
};

function eventLine(event: RunEventItem): string {
  const { run_id, workflow, seq, at, type, step, scope = "root", attempt } = event;
  const where = step === undefined ? workflow : nameOf(step, scope);
  const which = typeof attempt === "number" ? ` attempt ${attempt}` : "";
  const what = errorText(event);
  const text = `run ${String(run_id).padEnd(RUN_WIDTH)} ${at.slice(11, 19)} ${String(seq).padStart(5)}  ${type.padEnd(TYPE_WIDTH)} ${where}${which}`;
  return shownLine(what === "" ? text.trimEnd() : `${text}: ${what}`);
}

/** The error of an event. For an attempt it is a record; for a job or run its fields are in the event itself. */
function errorText({ error, code, message }: RunEventItem): string {
  const told = (typeof error === "object" && error !== null ? error : { code, message }) as {
    readonly code?: unknown;
    readonly message?: unknown;
  };
  if (typeof told.code !== "string" || typeof told.message !== "string") return "";
  return `${told.code} ${oneLine(told.message, MAX_MESSAGE_CHARS)}`;
}
