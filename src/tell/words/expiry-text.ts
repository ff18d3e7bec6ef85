import type { Expiry } from "../../core/notices/expiry.js";
import { durationText } from "./duration-text.js";

/** `fail`, `choose later`. */
export function thenText({ action, choice }: Expiry): string {
  return choice === null ? action : `choose ${choice}`;
}

/** `until 2026-03-01T12:00:00.000Z, then fail`. */
export function untilText(expiry: Expiry): string {
  return `until ${expiry.at}, then ${thenText(expiry)}`;
}

/** `expires in 3 h 59 min, then fail`. */
export function expiryText(expiry: Expiry, now: number): string {
  const left = Date.parse(expiry.at) - now;
  return left > 0
    ? `expires in ${durationText(left)}, then ${thenText(expiry)}`
    : `expired ${durationText(-left)} ago: ${thenText(expiry)} as soon as the run goes on`;
}
