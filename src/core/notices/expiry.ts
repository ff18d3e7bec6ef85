import type { Event } from "../model/events.js";
import { iso } from "../text/iso-time.js";
import { noted, nullable, type OfFields, text, word } from "../text/shape.js";

/** When a hold or a question ends by itself, and how. */
export const EXPIRY = {
  at: text,
  action: word(["fail", "skip", "retry", "complete", "choose"]),
  choice: noted(nullable(text), "What counts as the answer to a question; null: nothing does."),
} as const;
export type Expiry = OfFields<typeof EXPIRY>;

type Waits = Extract<Event, { type: "job.held" | "human.asked" }>;

/** Null if it waits until somebody decides. */
export function expiryOf(event: Waits): Expiry | null {
  if (event.due_at == null) return null;
  const at = iso(event.due_at);
  if (event.type === "job.held") return { at, action: event.due_action ?? "fail", choice: null };
  const choice = event.choose ?? null;
  return { at, action: choice === null ? "fail" : "choose", choice };
}
