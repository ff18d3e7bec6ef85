import { durationText } from "../../../src/tell/words/duration-text.js";
import type { paths } from "../api/schema.js";
import { count } from "./status.js";
import { namedTime } from "./times.js";

type AnswerOf<Path extends keyof paths> = paths[Path] extends {
  get: { responses: { 200: { content: { "application/json": infer Answer } } } };
}
  ? Answer
  : never;

export type WorkerItem = AnswerOf<"/api/v1/workers">["items"][number];
export type WaitingItem = AnswerOf<"/api/v1/waiting">["items"][number];
export type Allocations = AnswerOf<"/api/v1/allocations">;
export type AllocationItem = Allocations["items"][number];
export type BreakerItem = AnswerOf<"/api/v1/breakers">["items"][number];
export type CampaignItem = AnswerOf<"/api/v1/campaigns">["items"][number];

export interface Said {
  readonly words: string;
  readonly tone: "ok" | "bad" | "line" | "live" | "person";
  /** Further details, as a sentence. */
  readonly more: string;
}

/** A worker that is silent for longer is about to lose its attempts. */
const SILENT_MS = 20_000;

export function isOverdue({ last_seen_at }: Pick<WorkerItem, "last_seen_at">, now: number): boolean {
  return last_seen_at !== null && now - Date.parse(last_seen_at) > SILENT_MS;
}

export function workerState(worker: WorkerItem, now: number): Said {
  const { health, connected, draining, leaves_at } = worker;
  if (health.state === "quarantined")
    return {
      words: "quarantined",
      tone: "bad",
      more: `${failedOnIt(worker)} It gets nothing new until ${namedTime(health.until ?? "")}.`,
    };
  if (health.state === "probation")
    return { words: "on probation", tone: "line", more: "It is tried with one attempt before it gets more." };
  if (!connected) return { words: "not connected", tone: "line", more: "" };
  if (isOverdue(worker, now))
    return {
      words: "silent",
      tone: "bad",
      more: "If it stays silent, its attempts are restarted elsewhere.",
    };
  if (draining)
    return { words: "draining", tone: "line", more: "It takes nothing new and ends after what it runs." };
  if (leaves_at !== null)
    return { words: "healthy", tone: "ok", more: `It leaves at ${namedTime(leaves_at)}.` };
  return { words: "healthy", tone: "ok", more: "" };
}

function failedOnIt({ health: { jobs } }: WorkerItem): string {
  const others = [...new Set(jobs.map(({ completed_on }) => completed_on))].join(", ");
  return `${count(jobs.length, "job")} failed on it that ${others === "" ? "others" : others} completed.`;
}

/** How many nodes of an allocation are named. */
const MAX_NODES = 3;

/** The first nodes, or the number requested if there are none yet. */
export function nodesText({ nodes, num_nodes }: Pick<AllocationItem, "nodes" | "num_nodes">): string {
  if (nodes.length === 0) return count(num_nodes, "node");
  const more = nodes.length - MAX_NODES;
  return `${nodes.slice(0, MAX_NODES).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

/** Why an allocation cannot be drained; null if it can. */
export function whyNotDrain({ cancel }: Pick<AllocationItem, "cancel">): string | null {
  if (cancel === null) return null;
  return cancel === "now" ? "It is being canceled" : "It is being drained already";
}

export function allocationState(item: AllocationItem): Said {
  const because = item.reason === "" ? "" : `For ${item.reason}.`;
  if (item.cancel !== null && item.state !== "ended")
    return {
      words: item.state,
      tone: "line",
      more: item.cancel === "now" ? "It is being canceled." : "It ends after what it runs.",
    };
  switch (item.state) {
    case "planned":
      return { words: "planned", tone: "line", more: `About to be submitted. ${because}` };
    case "pending":
      return {
        words: "pending",
        tone: "line",
        more: `The scheduler has it and has not started it. ${because}`,
      };
    case "starting":
      return { words: "starting", tone: "live", more: "It runs; its worker has not come yet." };
    case "running":
      return { words: "running", tone: "ok", more: endsAt(item) };
    case "ending":
      return {
        words: "ending",
        tone: "line",
        more: "Its worker has left; the scheduler is asked to end it.",
      };
    case "unknown":
      return {
        words: "unknown",
        tone: "bad",
        more: "The scheduler does not list it. Daruma asks again; what it ran is not restarted elsewhere yet.",
      };
    case "ended":
      return item.end === null || item.end.code === "COMPLETED"
        ? { words: "ended", tone: "line", more: item.end?.message ?? "" }
        : { words: "ended", tone: "bad", more: `${item.end.message} (${item.end.code})` };
    default:
      return { words: item.state, tone: "line", more: because };
  }
}

function endsAt({ started_at, runtime_ms }: AllocationItem): string {
  if (started_at === null || runtime_ms === 0) return "Its worker is here.";
  const end = new Date(Date.parse(started_at) + runtime_ms).toISOString();
  return `Its worker is here. It ends at ${namedTime(end)} at the latest, after ${durationText(runtime_ms)}.`;
}

export function breakerState({ state, since, reason, by, next_probe_at }: BreakerItem): Said {
  if (state === "closed") return { words: "closed", tone: "ok", more: "" };
  const who = by === null ? "" : ` by ${by}`;
  const why = reason === null ? "" : `: ${reason}`;
  if (state === "spent")
    return { words: "spent", tone: "bad", more: `It was open too long and no longer stops anything${why}.` };
  const next =
    next_probe_at === null
      ? "It stays open until somebody closes it."
      : `The next try is at ${namedTime(next_probe_at)}.`;
  return { words: "open", tone: "bad", more: `Since ${namedTime(since ?? "")}${who}${why}. ${next}` };
}

/** What is done about jobs without a worker. */
export function remedyText(waiting: WaitingItem, { items, suspended }: Allocations): string {
  const asked = items.filter(
    ({ state }) => state === "planned" || state === "pending" || state === "starting",
  );
  if (asked.length > 0)
    return `${count(asked.length, "allocation")} ${asked.length === 1 ? "is" : "are"} on the way.`;
  if (suspended.length > 0) return "Nothing is asked for: a cluster is suspended.";
  return waiting.kind === "slot"
    ? "Places become free as other attempts end."
    : "Start such a worker: daruma worker --help says how.";
}
