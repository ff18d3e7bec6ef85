import type { Event, HoldAction } from "../model/events.js";
import { iso } from "../text/iso-time.js";

/** When a hold or a question ends by itself, and how. */
export interface Expiry {
  readonly at: string;
  readonly action: HoldAction | "choose";
  /** What counts as the answer to a question; null: nothing does. */
  readonly choice: string | null;
}

type Waits = Extract<Event, { type: "job.held" | "human.asked" }>;

/** Null if it waits until somebody decides. */
export function expiryOf(event: Waits): Expiry | null {
  if (event.due_at == null) return null;
  const at = iso(event.due_at);
  if (event.type === "job.held") return { at, action: event.due_action ?? "fail", choice: null };
  const choice = event.choose ?? null;
  return { at, action: choice === null ? "fail" : "choose", choice };
}
