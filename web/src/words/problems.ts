import { plainText } from "../../../src/core/text/plain-text.js";
import type { paths } from "../api/schema.js";
import type { Place } from "../place.js";
import { count } from "./status.js";
import { since } from "./times.js";

type Answer = paths["/api/v1/problems"]["get"]["responses"][200]["content"]["application/json"];

export type Problems = Answer;
export type Problem = Answer["items"][number];
export type Kind = Problem["kind"];

/** A text such as "7 runs" or "1 run, 12 items", since a fan-out may have the same problem many times. */
export function extentOf({ runs, jobs }: Pick<Problem, "runs" | "jobs">): string {
  const told = count(runs, "run");
  return jobs === runs ? told : `${told}, ${count(jobs, "item")}`;
}

/** A text such as "blocks 6 steps" or "lost 1 step". */
export function blocksOf({ kind, blocks }: Pick<Problem, "kind" | "blocks">): string {
  if (blocks.steps === 0) return "";
  return `${kind === "failed" ? "lost" : "blocks"} ${count(blocks.steps, "step")}`;
}

/** A text such as "first 11 min ago, last 5 min ago". If both are the same, it appears once. */
export function seenText({ first_at, last_at }: Pick<Problem, "first_at" | "last_at">, now: number): string {
  const [first, last] = [since(first_at, now), since(last_at, now)];
  return first === last ? last : `first ${first}, last ${last}`;
}

/** The blocked steps in layers. Those that wait only for the problem come first. */
export function layersOf({ names, layers }: Pick<Problem["blocks"], "names" | "layers">): string[][] {
  const found = new Map<number, string[]>();
  for (const [place, name] of names.entries()) {
    const layer = layers[place] ?? 0;
    found.set(layer, [...(found.get(layer) ?? []), name]);
  }
  return [...found.values()];
}

/** Texts for classes of failures whose names say little. */
const CLASS_WORDS: { readonly [name: string]: string } = {
  stuck_no_progress: "stuck, no progress",
  deterministic_policy: "policy, never retried",
  transient_runtime: "transient",
};

export function classWords(name: string): string {
  return CLASS_WORDS[name] ?? name;
}

export const KIND_WORDS: { readonly [kind in Kind]: { readonly one: string; readonly many: string } } = {
  hold: { one: "Hold", many: "Holds" },
  dead_letter: { one: "Dead letter", many: "Dead letters" },
  question: { one: "Question", many: "Questions" },
  failed: { one: "Failed", many: "Failed" },
};

/**
 * The rows to show, and the new ones. While somebody points at the list nothing moves: rows that are gone keep their
 * places, and new ones wait until they are requested.
 */
export function settleOrder(
  shown: readonly string[],
  fresh: readonly string[],
  { frozen, kept }: { readonly frozen: boolean; readonly kept: ReadonlySet<string> },
): { readonly order: readonly string[]; readonly added: number } {
  if (frozen && shown.length > 0) {
    const there = new Set(shown);
    return { order: shown, added: fresh.filter((id) => !there.has(id)).length };
  }
  const order = [...fresh];
  // A decided row keeps its place until its result has been read.
  for (const id of kept) {
    const place = shown.indexOf(id);
    if (place >= 0 && !order.includes(id)) order.splice(Math.min(place, order.length), 0, id);
  }
  return { order, added: 0 };
}

/**
 * The problem after the decided ones. Null if the focus should not move, because the user has left the inbox or
 * selected another problem since.
 */
export function nextAfter(
  decided: readonly string[],
  rows: readonly string[],
  { path, query }: Place,
): string | null {
  const [page = "inbox"] = path;
  const shown = query.get("problem") ?? rows[0];
  if (page !== "inbox" || shown === undefined || !decided.includes(shown)) return null;
  const first = rows.findIndex((id) => decided.includes(id));
  return rows.slice(first + 1).find((id) => !decided.includes(id)) ?? null;
}

/** Longer lines are cut on the page. The file has them in full. */
const MAX_LINE_CHARS = 4_000;

/** Splits a piece of a log into plain text: output of a step must not become markup. */
export function linesOf(text: string): string[] {
  const lines = plainText(text).split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines.map((line) => (line.length > MAX_LINE_CHARS ? `${line.slice(0, MAX_LINE_CHARS)} …` : line));
}

/** Counts the lines of a log. */
export function countLines(text: string): number {
  const lines = text.split("\n").length;
  return text === "" || text.endsWith("\n") ? lines - 1 : lines;
}
