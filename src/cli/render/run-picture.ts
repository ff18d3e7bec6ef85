import { retryMax } from "../../core/decide/ladder/retry.js";
import { phaseOf } from "../../core/model/ending/run-ending.js";
import { isSettled, type Job, type Run } from "../../core/model/run.js";
import { oneLine } from "../../core/text/plain-text.js";
import { jobName } from "../../tell/lookup/job-name.js";
import { secondsText } from "../../tell/words/duration-text.js";
import { cutTo, padTo, textWidth } from "./columns.js";
import { leftText } from "./forecast.js";
import type { Paint } from "./paint.js";

interface Census {
  total: number;
  done: number;
  failed: number;
  held: number;
  readonly waiting: Job[];
}

export interface PictureSize {
  readonly width: number;
  readonly height: number;
}

const SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏";
const SPINNER_STEP_MS = 100;
/** From this duration on, people want to know the progress and the time left. */
export const LONG_MS = 5_000;
const BAR_WIDTH = 12;
/** Keeps the cursor's line and one earlier line visible. */
const ROWS_LEFT_FREE = 2;
const MAX_ROWS = 16;
const MAX_NAME_WIDTH = 40;
const MIN_NAME_WIDTH = 8;
/** Limit for the detail's share of a line with a long name. A question may be longer still. */
const MAX_DETAIL_SHARE = 0.65;
/** Width of `  ● ` before a name and two blanks after it. */
const AROUND_NAME = 6;

/**
 * Draws a run at one moment in lines that fit the terminal: a headline, then what runs and what waits.
 *
 * @param leftMs how long it will still take; null if unknown
 */
export function pictureOf(
  run: Run,
  now: number,
  size: PictureSize,
  paint: Paint,
  leftMs: number | null = null,
): string[] {
  const census = takeCensus(run);
  const width = Math.max(1, size.width - 1);
  const rows = Math.max(1, Math.min(MAX_ROWS, size.height - ROWS_LEFT_FREE));
  const head = paint("bold", cutTo(headline(run, census, now, leftMs), width));
  const work = [...run.running, ...census.waiting];
  const room = rows - 1;
  const shown = work.length <= room ? work : work.slice(0, Math.max(0, room - 1));
  const details = shown.map((job) => detail(run, job, now));
  const names = shown.map(jobName);
  const nameWidth = Math.min(widest(names), roomForNames(width, widest(details)));
  const lines = shown.map((job, index) => {
    const name = padTo(cutTo(names[index]!, nameWidth), nameWidth);
    const line = cutTo(`  ${signOf(job)} ${name}  ${details[index]!}`, width);
    return paint(job.status === "running" || job.question !== null ? "cyan" : "yellow", line);
  });
  const hidden = work.length - shown.length;
  if (hidden > 0 && room > 0) lines.push(paint("dim", cutTo(`  … and ${hidden} more`, width)));
  return [head, ...lines];
}

function widest(texts: readonly string[]): number {
  return texts.reduce((most, text) => Math.max(most, textWidth(text)), 0);
}

/**
 * Width for names. What changes comes after the name, so in a narrow terminal the name is shortened, not the countdown.
 */
function roomForNames(width: number, detailWidth: number): number {
  const wanted = Math.min(detailWidth, Math.ceil(width * MAX_DETAIL_SHARE));
  return Math.max(MIN_NAME_WIDTH, Math.min(MAX_NAME_WIDTH, width - AROUND_NAME - wanted));
}

function takeCensus(run: Run): Census {
  const census: Census = { total: 0, done: 0, failed: 0, held: 0, waiting: [] };
  for (const job of run.jobs) {
    if (!job.scope.open) continue;
    census.total += 1;
    if (isSettled(job.status) && !job.followingUp) census.done += 1;
    if (job.status === "failed") census.failed += 1;
    if (job.status === "waiting" || job.recovery !== null) census.waiting.push(job);
    if (job.status === "held") census.held += 1;
  }
  census.waiting.sort((first, second) => (first.dueAt ?? 0) - (second.dueAt ?? 0));
  return census;
}

function headline(run: Run, census: Census, now: number, leftMs: number | null): string {
  const spin = SPINNER[Math.floor(now / SPINNER_STEP_MS) % SPINNER.length];
  const elapsedMs = now - (run.startedAt ?? run.createdAt);
  const isLong = elapsedMs >= LONG_MS;
  const parts = [
    `${spin} ${run.workflow} #${run.id}`,
    secondsText(elapsedMs),
    `${isLong ? `${bar(census)} ` : ""}${census.done}/${census.total} done`,
    ...(isLong && leftMs !== null ? [leftText(leftMs)] : []),
    `${run.running.size} running`,
  ];
  if (census.waiting.length > 0) parts.push(`${census.waiting.length} waiting`);
  if (census.failed > 0) parts.push(`${census.failed} failed`);
  if (census.held > 0) parts.push(`${census.held} held`);
  if (run.paused !== null) parts.push(run.paused.takeover ? "taken over" : "paused");
  const phase = phaseOf(run);
  if (phase !== null) parts.push(phase);
  else if (run.cancelRequested !== null) parts.push("canceling");
  return parts.join(" · ");
}

function bar({ done, total }: Census): string {
  const full = total === 0 ? 0 : Math.floor((BAR_WIDTH * done) / total);
  return "█".repeat(full) + "░".repeat(BAR_WIDTH - full);
}

function signOf(job: Job): string {
  if (job.question !== null) return "?";
  return job.status === "running" ? "●" : "◌";
}

function detail(run: Run, job: Job, now: number): string {
  if (job.question !== null) {
    const left = job.dueAt === null ? "" : `${secondsText(job.dueAt - now)} left: `;
    return `${left}${oneLine(job.question.prompt)} (${job.question.choices.join(", ")})`;
  }
  if (job.recovery !== null) return `recovery script after attempt ${job.attempt}`;
  if (job.parked !== null) return `until ${job.parked.breakers.join(" and ")} works again`;
  if (job.status === "waiting") {
    const retry = `retry ${job.retriesInVisit} of ${retryMax(run, job.step.definition)}`;
    return `${retry} in ${secondsText((job.dueAt ?? now) - now)}`;
  }
  const attempt = job.attempt > 1 ? `  attempt ${job.attempt}` : "";
  return `${secondsText(now - (job.attemptStartedAt ?? now))}${attempt}`;
}
