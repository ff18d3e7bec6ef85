import { oneLine } from "../../../core/text/plain-text.js";
import type { InputOf, OutputOf } from "../../../operations/client.js";
import type { Present } from "../../declare/declaration.js";
import { clockTime } from "../../render/clock-time.js";
import { tableLines } from "../../render/columns.js";
import { writeJson, writeLines } from "../../terminal/channel.js";

type Schedule = OutputOf<"list_schedules">["items"][number];

export const schedules: Present = async ({ input }, { out, err, options }, client) => {
  const { items, owner } = await client.call("list_schedules", input as InputOf<"list_schedules">);
  if (options.json) writeJson(out, items);
  else if (items.length === 0) writeLines(out, ["no schedules"]);
  else {
    const header = [
      "workflow",
      "schedule",
      "cron",
      "time zone",
      "next (UTC)",
      "last run",
      "skipped",
      "missed",
    ];
    writeLines(out, tableLines(header, items.map(rowOf), out.width()));
    writeLines(out, items.flatMap(pauseOf));
    writeLines(out, items.flatMap(refusalOf));
  }
  if (owner === null && items.some(({ paused }) => paused === null))
    writeLines(err, ["no server is running: runs start once `daruma serve` runs on this store"]);
  return 0;
};

function rowOf({ workflow, id, cron, timezone, paused, next_at, last, skipped, missed }: Schedule): string[] {
  return [
    ...[oneLine(workflow), id, cron, timezone, paused === null ? clockTime(next_at) : "paused"],
    ...[last === null ? "" : String(last.run_id), String(skipped.count), String(missed.count)],
  ];
}

function pauseOf({ workflow, id, paused }: Schedule): string[] {
  if (paused === null) return [];
  const why = paused.reason === "" ? "" : `: ${oneLine(paused.reason)}`;
  return [`${oneLine(workflow)}/${id} has been paused since ${clockTime(paused.at)} UTC${why}`];
}

function refusalOf({ workflow, id, refused }: Schedule): string[] {
  if (refused === null) return [];
  const { tick, code, message } = refused;
  return [
    `${oneLine(workflow)}/${id}: the run of ${clockTime(tick)} could not be created: ${code}, ${oneLine(message)}`,
  ];
}

export const controlSchedule: Present = async ({ input }, { out, options }, client) => {
  const answer = await client.call("control_schedule", input as never);
  const { workflow, id, paused, next_at } = answer;
  const next =
    next_at === null ? "it starts no more runs" : `its next run starts at ${clockTime(next_at)} UTC`;
  if (options.json) writeJson(out, answer);
  else
    writeLines(out, [`${oneLine(workflow)}/${id} ${paused === null ? `is resumed; ${next}` : "is paused"}`]);
  return 0;
};

export const runSchedule: Present = async ({ input }, { out, options }, client) => {
  const answer = await client.call("run_schedule", input as never);
  if (options.json) writeJson(out, answer);
  else
    writeLines(out, [
      `run ${answer.run_id} of ${oneLine(answer.workflow)} (version ${answer.version}) started`,
    ]);
  return 0;
};
