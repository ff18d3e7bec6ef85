import { shortSignature } from "../../core/failure/signature.js";
import type { Message, Notice } from "../../core/notices/notice.js";
import { counted, durationAmount } from "../../core/text/amount-text.js";
import { firstChars } from "../../core/text/head-tail.js";
import { iso } from "../../core/text/iso-time.js";
import type { Json } from "../../core/text/json.js";
import { oneLine } from "../../core/text/plain-text.js";
import { nameOf } from "../lookup/job-name.js";
import { untilText } from "../words/expiry-text.js";
import { shellWord } from "../words/shell-word.js";
import { openingOf, subjectOf } from "./message-words.js";

interface SuggestedCommand {
  /** The command as it is typed. */
  readonly command: string;
  readonly does: string;
}

const MAX_CHOICES = 8;

/** How to decide, or to find out more. */
function commandsFor({ kind, run_id, step, signature, facts }: Notice): SuggestedCommand[] {
  const run = String(run_id);
  const job = step === null ? null : nameOf(step, facts.scope ?? "root");
  const again = [suggest("try again what failed", "reset", run)];
  // What was undone cannot go on; a fork does it again.
  const anew =
    step === null ? [] : [suggest("run it again from there, as a new run", "fork", run, "--from", step)];
  switch (kind) {
    case "held":
      return [
        suggest("run it again, once the cause is fixed", "resolve", run, job ?? "", "--retry"),
        suggest("continue without it", "resolve", run, job ?? "", "--skip"),
        suggest("let it fail", "resolve", run, job ?? "", "--fail"),
        ...toMute(signature),
      ];
    case "dead_letter":
      return [
        suggest("put it back into the queue", "redrive", run, job ?? ""),
        suggest("see why", "explain", run, job ?? ""),
        ...toMute(signature),
      ];
    case "failed":
      return [
        suggest("see why", "explain", run, ...(job === null ? [] : [job])),
        ...(job === null ? [] : [suggest("read its log", "logs", run, job)]),
        ...(facts.undone === true ? anew : again),
        ...toMute(signature),
      ];
    case "handled":
      return [
        facts.below === undefined
          ? suggest("see why", "explain", run, job ?? "")
          : suggest("see why", "explain", String(facts.below.run_id)),
        suggest("see what ran and what was skipped", "show", run),
        ...toMute(signature),
      ];
    case "completed":
      return [suggest("see how it went", "show", run)];
    case "question":
      return (facts.choices ?? [])
        .slice(0, MAX_CHOICES)
        .map((choice) => suggest(`answer ${choice}`, "answer", run, job ?? "", "--choose", choice));
    case "deadline":
      return [suggest("see what took how long", "timeline", run)];
    case "breaker":
      return [suggest("see what waits for it", "breakers")];
    case "quarantined":
      return [
        suggest("see why, and until when", "workers"),
        suggest("let it work again", "workers", "release", facts.name ?? "", "--reason", "REASON"),
      ];
    case "recovered":
      return [];
  }
}

function toMute(signature: string | null): SuggestedCommand[] {
  if (signature === null) return [];
  const muted = ["failures", "mute", shortSignature(signature), "--until", "7d"];
  return [suggest("mute this failure for a week", ...muted)];
}

function suggest(does: string, ...words: readonly string[]): SuggestedCommand {
  return { command: ["daruma", ...words.filter((word) => word !== "").map(shellWord)].join(" "), does };
}

const MAX_SUBJECT_CHARS = 150;
const MAX_TEXT_CHARS = 12_000;

/** Writes a notice as a message: what failed and with which lines, what was tried, what waits, and how to decide. */
export function composeMessage(notice: Notice, { page }: { readonly page: string | null }): Message {
  const { id, at, kind } = notice;
  const link = page === null ? null : linkOf(page, notice);
  const parts = [
    openingOf(notice),
    failureOf(notice),
    triedOf(notice),
    timesOf(notice),
    waitingOf(notice),
    decisionOf(notice, link),
  ];
  const text = parts.filter((part) => part !== "").join("\n\n");
  return {
    ...{ id, at, kind, link },
    subject: oneLine(subjectOf(notice), MAX_SUBJECT_CHARS),
    text: firstChars(text, MAX_TEXT_CHARS),
    data: dataOf(notice, link),
  };
}

function linkOf(page: string, { run_id, step, kind, facts }: Notice): string {
  const at = page.endsWith("/") ? page.slice(0, -1) : page;
  if (run_id === null || kind === "breaker" || kind === "quarantined") return `${at}/#/`;
  const job = step === null ? "" : `/${encodeURIComponent(nameOf(step, facts.scope ?? "root"))}`;
  return `${at}/#/runs/${run_id}${job}`;
}

function failureOf({ kind, facts }: Notice): string {
  const { code, class: failureClass, message = "", lines = [] } = facts;
  if (code === undefined || kind === "recovered" || kind === "deadline") return "";
  const of = failureClass === undefined ? code : `${code}, ${failureClass}`;
  return [
    `${message === "" ? code : `${oneLine(message)} (${of})`}`,
    ...lines.map((line) => `  | ${line}`),
  ].join("\n");
}

function triedOf({ kind, facts }: Notice): string {
  const { tried = [], attempt = 0, below } = facts;
  if (kind === "recovered" || kind === "question" || below !== undefined) return "";
  if (tried.length === 0 && attempt === 0) return "";
  const rungs = tried.map(({ rung, reason }) => `  ${rung}: ${reason}`);
  return [`What was tried: ${counted(attempt, "attempt")}.`, ...rungs].join("\n");
}

function timesOf({ told, kind }: Notice): string {
  if (told === null || told.count < 2 || kind === "recovered") return "";
  const since = `${new Date(told.since).toISOString().slice(0, 16).replace("T", " ")} UTC`;
  return `It has happened ${told.count} times since ${since}.`;
}

function waitingOf(notice: Notice): string {
  const { kind, facts } = notice;
  const { held = 0, questions = 0, others = [] } = facts;
  if (kind === "recovered") return "";
  const more = others.length === 0 ? "" : `Also failed: ${others.join(", ")}.`;
  const waits = [
    ...(held > 0 ? [`${counted(held, "held step")}`] : []),
    ...(questions > 0 ? [`${counted(questions, "open question")}`] : []),
  ];
  const what = waits.length === 0 ? "" : `Waiting in this run: ${waits.join(", ")}.`;
  return [more, what, waitsUntil(notice)].filter((part) => part !== "").join("\n");
}

/** A reminder is about what waits now, and the original hold may have expired. */
function waitsUntil({ at, facts }: Notice): string {
  const { expiry, due_at: dueAt = null } = facts;
  if (expiry !== undefined) return Date.parse(expiry.at) < at ? "" : `It waits ${untilText(expiry)}.`;
  return dueAt === null ? "" : `It waits until ${iso(dueAt)}.`;
}

function decisionOf(notice: Notice, link: string | null): string {
  const commands = commandsFor(notice);
  if (commands.length === 0 && link === null) return "";
  const heading = NOTHING_TO_DO.has(notice.kind) ? "To look at it:" : "What to do:";
  const width = Math.max(0, ...commands.map(({ command }) => command.length));
  return [
    heading,
    ...(link === null ? [] : [`  ${link}`]),
    ...commands.map(({ command, does }) => `  ${command.padEnd(width)}  # ${does}`),
  ].join("\n");
}

const NOTHING_TO_DO: ReadonlySet<Notice["kind"]> = new Set(["recovered", "deadline", "handled", "completed"]);

/** The message's data for programs. */
function dataOf(notice: Notice, link: string | null): { [field: string]: Json } {
  const { id, kind, channel, run_id, workflow, step, signature, told, facts } = notice;
  const {
    family = null,
    scope = null,
    job_id = null,
    attempt = null,
    code = null,
    message = null,
    lines = [],
    tried = [],
  } = facts;
  const failure = { code, class: facts.class ?? null, message, lines: [...lines] };
  return {
    ...{ id, kind, channel, workflow, run_id, step, family, scope, job_id, attempt, signature },
    ...{ failure: code === null ? null : failure, tried: tried.map((each) => ({ ...each })) },
    ...{
      told_as: told?.as ?? null,
      count: told?.count ?? null,
      since: told === null ? null : iso(told.since),
    },
    ...{ labels: { ...facts.labels }, question: questionOf(notice), name: facts.name ?? null },
    expiry: facts.expiry === undefined ? null : { ...facts.expiry },
    limit: facts.limit_ms === undefined ? null : durationAmount(facts.limit_ms),
    ...{ commands: commandsFor(notice).map(({ command }) => command), link },
  };
}

function questionOf({ facts }: Notice): Json {
  const { prompt, choices = [], due_at: dueAt = null } = facts;
  return prompt === undefined
    ? null
    : { prompt, choices: [...choices], due_at: dueAt === null ? null : iso(dueAt) };
}
