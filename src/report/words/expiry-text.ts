import type { Event, HoldAction } from "../../core/model/events.js";
import { iso } from "../../core/text/iso-time.js";
import { durationText } from "./duration-text.js";

/** When a hold or a question ends by itself, and how. */
export interface Expiry {
  readonly at: string;
  readonly action: HoldAction | "choose";
  /** What counts as the answer to a question; null: nothing does. */
  readonly choice: string | null;
}

type Waits = Extract<Event, { type: "job.held" | "human.asked" }>;

/** Null: it waits until somebody decides. */
export function expiryOf(event: Waits): Expiry | null {
  if (event.dueAt == null) return null;
  const at = iso(event.dueAt);
  if (event.type === "job.held") return { at, action: event.dueAction ?? "fail", choice: null };
  const choice = event.choose ?? null;
  return { at, action: choice === null ? "fail" : "choose", choice };
}

/** `fail`, `choose later`. */
export function thenText({ action, choice }: Expiry): string {
  return choice === null ? action : `choose ${choice}`;
}

/** `expires in 3 h 59 min, then fail`. */
export function expiryText(expiry: Expiry, now: number): string {
  const left = Date.parse(expiry.at) - now;
  return left > 0
    ? `expires in ${durationText(left)}, then ${thenText(expiry)}`
    : `expired ${durationText(-left)} ago: ${thenText(expiry)} as soon as the run goes on`;
}
