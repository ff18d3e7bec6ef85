import { oneLine } from "../../core/plain-text.js";
import type { RunEventItem } from "../../operations/all-events.js";
import type { Client, InputOf } from "../../operations/client.js";
import { nameOf } from "../../operations/job-name.js";
import type { Present } from "../presenters.js";
import { shownLine } from "../render/paint.js";
import { Pieces } from "./events.js";

const TYPE_WIDTH = 22;
const RUN_WIDTH = 6;
const MAX_MESSAGE_CHARS = 200;
const JOBS_PER_PAGE = 1_000;
/** Names of so many runs are kept; older ones are asked for again. */
const MAX_RUNS_KNOWN = 200;

/** What happens in all runs, one event a line, until somebody has seen enough. */
export const watch: Present = async ({ input }, { out, options }, client) => {
  const pieces = new Pieces(out);
  const names = new JobNames(client);
  const stream = client.stream("list_events", input as InputOf<"list_events">, new AbortController().signal);
  for await (const { data } of stream) {
    const event = data as RunEventItem;
    pieces.add(`${options.json ? JSON.stringify(event) : await eventLine(event, names)}\n`);
  }
  return 0;
};

async function eventLine(event: RunEventItem, names: JobNames): Promise<string> {
  const { run_id, seq, at, type, job, attempt } = event;
  const where = typeof job === "number" ? ` ${await names.nameOf(run_id, job)}` : "";
  const which = typeof attempt === "number" ? ` attempt ${attempt}` : "";
  const what = errorText(event);
  const text = `run ${String(run_id).padEnd(RUN_WIDTH)} ${at.slice(11, 19)} ${String(seq).padStart(5)}  ${type.padEnd(TYPE_WIDTH)}${where}${which}`;
  return shownLine(what === "" ? text.trimEnd() : `${text}: ${what}`);
}

/** Of an attempt it is a record, of a job or run it stands in the event itself. */
function errorText({ error, code, message }: RunEventItem): string {
  const told = (typeof error === "object" && error !== null ? error : { code, message }) as {
    readonly code?: unknown;
    readonly message?: unknown;
  };
  if (typeof told.code !== "string" || typeof told.message !== "string") return "";
  return `${told.code} ${oneLine(told.message, MAX_MESSAGE_CHARS)}`;
}

/** Events name jobs by their ids; people know steps. */
class JobNames {
  private readonly runs = new Map<number, Map<number, string>>();

  constructor(private readonly client: Client) {}

  async nameOf(runId: number, jobId: number): Promise<string> {
    const known = this.runs.get(runId) ?? this.remember(runId);
    // A fan-out makes jobs while the run goes on.
    if (!known.has(jobId)) await this.learn(runId, known).catch(() => {});
    if (!known.has(jobId)) known.set(jobId, `job ${jobId}`);
    return known.get(jobId)!;
  }

  private remember(runId: number): Map<number, string> {
    const names = new Map<number, string>();
    this.runs.set(runId, names);
    if (this.runs.size > MAX_RUNS_KNOWN) this.runs.delete(this.runs.keys().next().value!);
    return names;
  }

  private async learn(runId: number, names: Map<number, string>): Promise<void> {
    for (let after = 0; ; ) {
      const request = { run_id: runId, limit: JOBS_PER_PAGE, after };
      const { items, next } = await this.client.call("list_jobs", request);
      for (const { id, step, scope } of items) names.set(id, nameOf(step, scope));
      if (next === null) return;
      after = next;
    }
  }
}
