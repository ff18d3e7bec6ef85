import type { paths } from "../api/schema.js";
import type { Place } from "../place.js";
import { count } from "./status.js";
import { since } from "./times.js";

type Answer = paths["/api/v1/problems"]["get"]["responses"][200]["content"]["application/json"];

export type Problems = Answer;
export type Problem = Answer["items"][number];
export type Kind = Problem["kind"];

/** "7 runs", "1 run, 12 items": a fan-out may have the same problem often. */
export function extentOf({ runs, jobs }: Pick<Problem, "runs" | "jobs">): string {
  const told = count(runs, "run");
  return jobs === runs ? told : `${told}, ${count(jobs, "item")}`;
}

/** "blocks 6 steps", "lost 1 step". */
export function blocksOf({ kind, blocks }: Pick<Problem, "kind" | "blocks">): string {
  if (blocks.steps === 0) return "";
  return `${kind === "failed" ? "lost" : "blocks"} ${count(blocks.steps, "step")}`;
}

/** "first 11 min ago, last 5 min ago"; once where both are the same. */
export function seenText({ first_at, last_at }: Pick<Problem, "first_at" | "last_at">, now: number): string {
  const [first, last] = [since(first_at, now), since(last_at, now)];
  return first === last ? last : `first ${first}, last ${last}`;
}

/** The blocked steps, those that wait for nothing but the problem first. */
export function layersOf({ names, layers }: Pick<Problem["blocks"], "names" | "layers">): string[][] {
  const found = new Map<number, string[]>();
  for (const [place, name] of names.entries()) {
    const layer = layers[place] ?? 0;
    found.set(layer, [...(found.get(layer) ?? []), name]);
  }
  return [...found.values()];
}

/** The classes of failures that say little by their names. */
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
 * What stands in the list, and what is new. Nothing moves while somebody points at it: then rows that are gone keep their
 * places, and new ones wait until they are asked for.
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
  // What was just decided stays where it was until its result was read.
  for (const id of kept) {
    const place = shown.indexOf(id);
    if (place >= 0 && !order.includes(id)) order.splice(Math.min(place, order.length), 0, id);
  }
  return { order, added: 0 };
}

/**
 * The problem that comes after those that were decided; null where nobody should be taken to it, because he has left the
 * inbox or chosen another problem since.
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
