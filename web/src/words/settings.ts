import { limitTexts } from "../../../src/file/settings/limits.js";
import { durationText } from "../../../src/tell/words/duration-text.js";
import { sizeText } from "../log/LogLine.js";
import type { ServerSettings } from "./notifications.js";
import { count } from "./status.js";

type Rule = ServerSettings["retention"]["runs"];

const DAY_MS = 24 * 60 * 60_000;

const ALL_STATUSES = 3;
const GB = 1_024 ** 3;

/** How long data of finished runs is kept, in a sentence or two. */
export function keptWords(rule: Rule): string {
  if (rule === null) return "Kept for ever.";
  const { older_than_ms: age, keep_last: last, max_bytes: bytes, status } = rule;
  const bounds = [
    ...(age === null ? [] : [`older than ${ageText(age)}`]),
    ...(last === null ? [] : [`beyond the last ${last} of each workflow`]),
    ...(bytes === null
      ? []
      : [`beyond ${bytes >= GB ? `${(bytes / GB).toFixed(1)} GiB` : sizeText(bytes)} in all`]),
  ];
  const only = status.length === ALL_STATUSES ? "" : ` Only of ${status.join(" or ")} runs.`;
  return `Removed when ${bounds.join(", or ")}.${only}`;
}

/** The limits that differ from the defaults. */
export function limitWords(limits: ServerSettings["limits"]): string {
  const texts = limitTexts(limits);
  return texts.length === 0 ? "The usual ones." : `${upperFirst(texts.join(", "))}.`;
}

function upperFirst(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function ageText(ms: number): string {
  return ms >= DAY_MS ? count(Math.round(ms / DAY_MS), "day") : durationText(ms);
}
