import type { Definition } from "../../core/model/definition.js";
import type { JobStatus } from "../../core/model/rows.js";
import { parseStoredDefinition } from "../../core/model/stored-definition.js";
import { list, noted, number, type OfFields, text } from "../../core/text/shape.js";
import type { Store } from "../../store/store.js";
import type { UnansweredJob } from "../../store/unanswered.js";

/** What depends on each step, by the hash of the definition: it never changes. */
const KNOWN = new Map<string, Dependents>();
const MAX_KNOWN = 200;
/** Limit for the number of steps that are listed. */
const MAX_READ = 2_000;
const MAX_NAMED_STEPS = 50;

export interface Dependents {
  readonly steps: number;
  /** All that come after a step, near ones first. */
  readonly of: (step: string) => readonly Later[];
}

/** A step that comes after another one. */
interface Later {
  readonly step: string;
  /** How many steps away, on the longest way: what it waits for is in a layer before it. */
  readonly layer: number;
}

export async function dependentsIn(store: Store, hash: string): Promise<Dependents> {
  const known = KNOWN.get(hash);
  if (known !== undefined) return known;
  const text = await store.readDefinition(hash);
  const found = text === null ? NOTHING : dependents(parseStoredDefinition(text, hash));
  if (KNOWN.size >= MAX_KNOWN) KNOWN.delete(KNOWN.keys().next().value!);
  KNOWN.set(hash, found);
  return found;
}

const NOTHING: Dependents = { steps: 0, of: () => [] };

function dependents({ steps }: Pick<Definition, "steps">): Dependents {
  const after = new Map<string, string[]>();
  for (const { id, dependsOn } of steps)
    for (const dependency of dependsOn.flat()) {
      const known = after.get(dependency);
      if (known === undefined) after.set(dependency, [id]);
      else known.push(id);
    }
  const found = new Map<string, readonly Later[]>();
  const of = (step: string): readonly Later[] => {
    const known = found.get(step) ?? layersAfter(step, after);
    found.set(step, known);
    return known;
  };
  return { steps: steps.length, of };
}

function layersAfter(first: string, after: ReadonlyMap<string, readonly string[]>): Later[] {
  // A set and a map give what is added while they are walked.
  const seen = new Set([first]);
  const waitsFor = new Map<string, number>();
  for (const each of seen)
    for (const next of after.get(each) ?? []) {
      seen.add(next);
      waitsFor.set(next, (waitsFor.get(next) ?? 0) + 1);
    }
  const layers = new Map([[first, 0]]);
  const away = new Map<string, number>();
  for (const [step, layer] of layers)
    for (const next of after.get(step) ?? []) {
      away.set(next, Math.max(away.get(next) ?? 0, layer + 1));
      const left = waitsFor.get(next)! - 1;
      waitsFor.set(next, left);
      if (left === 0) layers.set(next, away.get(next)!);
    }
  layers.delete(first);
  return [...layers].map(([step, layer]) => ({ step, layer })).sort((a, b) => a.layer - b.layer);
}

const STOPPED: { readonly [kind in "waits" | "over"]: readonly JobStatus[] } = {
  waits: ["blocked"],
  over: ["canceled", "skipped", "blocked"],
};

/** What cannot run because of a job: steps that wait for it, or never ran. */
export const BLOCKS = {
  steps: number,
  /** The first of them, near ones first. */
  names: list(text),
  layers: noted(list(number), "Beside the names: how many steps away each is."),
  /** All steps of the workflow. */
  of: number,
} as const;
export type Blocks = OfFields<typeof BLOCKS>;

export async function blocksOf(store: Store, job: UnansweredJob): Promise<Blocks> {
  const dependents = await dependentsIn(store, job.definition_hash);
  if (dependents.of(job.step).length === 0) return blocksAmong(dependents, job.step, new Set());
  const status = STOPPED[job.status === "failed" ? "over" : "waits"];
  const stopped = await store.listJobs({ runId: job.run_id, status, limit: MAX_READ });
  return blocksAmong(dependents, job.step, new Set(stopped.map(({ step }) => step)));
}

/** `stopped`: the steps of the run that do not go on. Jobs of branches that are not open yet do not exist. */
export function blocksAmong(dependents: Dependents, step: string, stopped: ReadonlySet<string>): Blocks {
  const found = dependents.of(step).filter((each) => stopped.has(each.step));
  const named = found.slice(0, MAX_NAMED_STEPS);
  return {
    steps: found.length,
    names: named.map((each) => each.step),
    layers: named.map(({ layer }) => layer),
    of: dependents.steps,
  };
}
