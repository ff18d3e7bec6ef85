import { parseStoredDefinition } from "../core/model/stored-definition.js";
import { writtenStep } from "../core/model/written-step.js";
import type { CountedStep, CountFilter } from "../store/counts.js";
import type { Store } from "../store/store.js";
import { type Statistics, statisticsOf } from "./statistics.js";

type CountedStore = Pick<Store, "count" | "readDefinition">;

/** Whose attempts say how many tokens they took. */
const MODEL_ACTION = "llm_call";

/** One count after the other: others may use the store in between. */
export async function collectStatistics(store: CountedStore, filter: CountFilter): Promise<Statistics> {
  const runs = await store.count("runs", filter);
  const attempts = await store.count("attempts", filter);
  const failures = await store.count("failures", filter);
  const ends = await store.count("ends", filter);
  const actions = await readActions(store, attempts);
  const actionOf = (step: CountedStep): string => actions.get(keyOf(step)) ?? "unknown";
  const models = stepsOf(attempts).filter((step) => actionOf(step) === MODEL_ACTION);
  const ruled = stepsOf(failures.filter(({ action }) => action === "rule"));
  return statisticsOf(
    {
      ...{ runs, attempts, failures, ends },
      decisions: await store.count("decisions", filter),
      usage: models.length === 0 ? [] : await store.count("usage", { ...filter, steps: models }),
      scripts: ruled.length === 0 ? [] : await store.count("scripts", { ...filter, steps: ruled }),
    },
    filter.bucketMs,
    actionOf,
  );
}

function keyOf({ definition_hash, step }: CountedStep): string {
  return `${definition_hash} ${step}`;
}

function stepsOf(rows: readonly CountedStep[]): CountedStep[] {
  return [...new Map(rows.map((row) => [keyOf(row), row])).values()];
}

/** What each step does. */
async function readActions(store: CountedStore, rows: readonly CountedStep[]): Promise<Map<string, string>> {
  const actions = new Map<string, string>();
  for (const hash of new Set(rows.map(({ definition_hash }) => definition_hash))) {
    const text = await store.readDefinition(hash);
    const steps = text === null ? [] : parseStoredDefinition(text, hash).steps;
    for (const { id, family = null, action } of steps)
      actions.set(keyOf({ definition_hash: hash, step: writtenStep({ step: id, family }) }), action.type);
  }
  return actions;
}
