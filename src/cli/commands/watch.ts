import type { RunEventItem } from "../../operations/all-events.js";
import type { InputOf } from "../../operations/client.js";
import type { Present } from "../presenters.js";
import { Pieces } from "./events.js";

const TYPE_WIDTH = 22;
const RUN_WIDTH = 6;

/** What happens in all runs, one event a line, until somebody has seen enough. */
export const watch: Present = async ({ input }, { out, options }, client) => {
  const pieces = new Pieces(out);
  const stream = client.stream("list_events", input as InputOf<"list_events">, new AbortController().signal);
  for await (const { data } of stream) {
    const event = data as RunEventItem;
    pieces.add(`${options.json ? JSON.stringify(event) : eventLine(event)}\n`);
  }
  return 0;
};

function eventLine({ run_id, seq, at, type, job }: RunEventItem): string {
  const where = typeof job === "number" ? ` job ${job}` : "";
  return `run ${String(run_id).padEnd(RUN_WIDTH)} ${at.slice(11, 19)} ${String(seq).padStart(5)}  ${type.padEnd(TYPE_WIDTH)}${where}`.trimEnd();
}
