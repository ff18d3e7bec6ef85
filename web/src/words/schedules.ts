import { durationText } from "../../../src/tell/words/duration-text.js";
import { type AnswerOf, count } from "./status.js";
import { exactTime, until } from "./times.js";

export type ScheduleItem = AnswerOf<"/api/v1/schedules">["items"][number];

/** Notes about a schedule, the most urgent first. Empty if all is well. */
export function scheduleNotes(item: ScheduleItem): { readonly tone: "bad" | "dim"; readonly text: string }[] {
  const { paused, refused, skipped, missed } = item;
  return [
    ...(refused === null
      ? []
      : [
          {
            tone: "bad" as const,
            text: `No run for ${exactTime(refused.tick)}: ${refused.message} (${refused.code}).`,
          },
        ]),
    ...(paused === null
      ? []
      : [
          {
            tone: "dim" as const,
            text: `Paused by ${paused.by} since ${exactTime(paused.at)}${paused.reason === "" ? "" : `: ${paused.reason}`}.`,
          },
        ]),
    ...counted(skipped, "skipped because a run of it was not over"),
    ...counted(missed, "missed because no server was running"),
  ];
}

function counted({ count: times, last }: ScheduleItem["skipped"], why: string) {
  if (times === 0) return [];
  return [
    {
      tone: "dim" as const,
      text: `${count(times, "tick")} ${why}${last === null ? "" : `, last ${exactTime(last)}`}.`,
    },
  ];
}

/** A text such as "in 3 h, 2026-11-18 03:00:00 UTC". */
export function nextWords(
  { next_at, paused }: Pick<ScheduleItem, "next_at" | "paused">,
  now: number,
): string {
  if (next_at !== null) return `${until(next_at, now)}, ${exactTime(next_at)}`;
  return paused === null ? "never" : "not while paused";
}

/** Details beside the pattern: its time zone, and what happens on a busy or a missed tick. */
export function ruleWords({ timezone, overlap, catch_up, jitter_ms }: ScheduleItem): string {
  const parts = [
    timezone,
    overlap === "allow" ? "may overlap" : "",
    catch_up === "last" ? "" : CATCH_UP[catch_up],
    jitter_ms > 0 ? `with up to ${durationText(jitter_ms)} of jitter` : "",
  ];
  return parts.filter((part) => part !== "").join(", ");
}

const CATCH_UP = { none: "missed ticks are dropped", all: "all missed ticks are made up for" } as const;
