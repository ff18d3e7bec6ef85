import type { Definition } from "../../core/model/definition.js";
import type { JobStatus } from "../../core/model/rows.js";
import { parseStoredDefinition } from "../../core/model/stored-definition.js";
import type { Store } from "../../store/store.js";
import type { UnansweredJob } from "../../store/unanswered.js";

/** What depends on each step, by the hash of the definition: it never changes. */
const KNOWN = new Map<string, Dependents>();
const MAX_KNOWN = 200;
/** More are not told one by one. */
const MAX_READ = 2_000;

interface Dependents {
  readonly steps: number;
  /** All that come after a step, near ones first. */
  readonly of: (step: string) => readonly string[];
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
  const found = new Map<string, readonly string[]>();
  const of = (step: string): readonly string[] => {
    const known = found.get(step);
    if (known !== undefined) return known;
    const seen = new Set([step]);
    // A set gives what is added while it is walked.
    for (const each of seen) for (const next of after.get(each) ?? []) seen.add(next);
    seen.delete(step);
    found.set(step, [...seen]);
    return found.get(step)!;
  };
  return { steps: steps.length, of };
}

const STOPPED: { readonly [kind in "waits" | "over"]: readonly JobStatus[] } = {
  waits: ["blocked"],
  over: ["canceled", "skipped", "blocked"],
};

/** The steps that cannot run because of this job: they wait for it, or never ran. */
export async function stepsBlockedBy(store: Store, job: UnansweredJob): Promise<readonly string[]> {
  const after = (await dependentsIn(store, job.definition_hash)).of(job.step);
  if (after.length === 0) return after;
  const status = STOPPED[job.status === "failed" ? "over" : "waits"];
  const stopped = await store.listJobs({ runId: job.run_id, status, limit: MAX_READ });
  const names = new Set(stopped.map(({ step }) => step));
  // Jobs of branches that are not open yet do not exist.
  return after.filter((step) => names.has(step));
}
