import type { ScopeItem } from "../model/events.js";
import type { FailureFacts } from "../model/failure.js";
import { JOB_IDS_PER_RUN, type Job, type Run } from "../model/run.js";
import { firstChars } from "../text/head-tail.js";
import type { Json } from "../text/json.js";

/**
 * Why a forEach step's list is refused, or null. Each item is a scope with jobs of its own, in memory and in the store,
 * and a list is data: counted are the items of all forEach steps of the run, so that lists within lists do not multiply.
 */
export function refuseItems(run: Run, job: Job, count: number): FailureFacts | null {
  // A later visit uses the scopes of the first again.
  const own = job.scope.children.get(job.step)?.length ?? 0;
  const others = run.scopes.size - 1 - own;
  const added = Math.max(0, count - own);
  const jobs = run.jobs.length + added * (run.graph.inItemsOf.get(job.step)?.length ?? 0);
  if (jobs >= JOB_IDS_PER_RUN)
    return {
      code: "TOO_MANY_ITEMS",
      message: `a list of ${count} items would give the run ${jobs} jobs; the limit is ${JOB_IDS_PER_RUN}`,
    };
  return tooManyItems(count, run.definition.maxItems, others);
}

/** Checks a single list if the rest of the run is unknown. */
export function tooManyItems(count: number, limit: number, others = 0): FailureFacts | null {
  if (count + others <= limit) return null;
  const beside = others === 0 ? "" : `, and the run has ${others} items already`;
  return {
    code: "TOO_MANY_ITEMS",
    message: `the list has ${count} items${beside}; max_items allows ${limit} in a run`,
  };
}

/** Keys name scopes in paths, logs and pictures; a longer item is known by its index. */
const MAX_ITEM_KEY_CHARS = 64;
const MAX_ITEM_NAME_CHARS = 40;
/** More than any max_items: such a list is refused, however long it is. */
const MAX_COUNTED_ITEMS = 1_000_001;

/** The items of a forEach step's output; null: it is no list. */
export function itemsOf(value: Json): readonly ScopeItem[] | null {
  if (!Array.isArray(value)) return null;
  return value
    .slice(0, MAX_COUNTED_ITEMS)
    .map((item: Json, index) =>
      typeof item === "string" && item.length <= MAX_ITEM_KEY_CHARS
        ? { key: item }
        : { key: String(index), name: itemName(item) },
    );
}

/** What tells one object from another, most telling first. */
const NAMING = ["key", "id", "name", "path", "file", "url", "title"] as const;

/** The value in short: a number as it is, an object by the member that names it. */
function itemName(item: Json): string {
  const named = memberOf(item);
  const text = typeof named === "string" ? named : JSON.stringify(named);
  return text.length <= MAX_ITEM_NAME_CHARS ? text : `${firstChars(text, MAX_ITEM_NAME_CHARS - 1)}…`;
}

function memberOf(item: Json): Json {
  if (typeof item !== "object" || item === null) return item;
  const members = new Map<string, Json>(Object.entries(item));
  const found = NAMING.map((name) => members.get(name));
  return found.find((value) => typeof value === "string" || typeof value === "number") ?? item;
}
