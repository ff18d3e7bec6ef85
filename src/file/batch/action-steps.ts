import { checkTemplate } from "../fields/code-fields.js";
import type { StepKeys } from "../fields/read-step.js";
import type { StepEntry } from "../fields/step-entries.js";
import { STEP_FIELDS } from "../fields/step-fields.js";
import type { ActionDraft, Trigger } from "../fields/trigger-fields.js";
import type { Located, ReadContext } from "../read/schema.js";
import { quote } from "../read/suggest.js";
import { MAX_DEPENDENCIES, reportTooManyDependencies } from "./job-dependencies.js";

/** An action with its place in the list, from 1, and the jobs that it names. */
export interface WatchedAction {
  readonly draft: ActionDraft;
  readonly place: number;
  readonly jobs: readonly string[];
}

/**
 * Actions that run commands, as steps: so they are recorded, logged, retried and explained as everything else. One that fails
 * counts as handled, since it must not fail the run. `routed` are steps that start only when something leads there.
 */
export function addActionSteps(
  jobs: readonly StepEntry[],
  actions: readonly WatchedAction[],
  routed: ReadonlySet<string>,
  context: ReadContext,
): readonly StepEntry[] {
  const commands = actions.filter(({ draft }) => draft.keys.action_type === "run_commands");
  if (commands.length === 0) return jobs;
  const at = (trigger: Trigger) => commands.filter(({ draft }) => draft.keys.trigger_type?.value === trigger);
  const starts = chain(at("on_workflow_start"), [], context);
  const begun = afterStart(jobs, starts.at(-1), routed);
  const { waiting, steps: readies } = beforeJobs(begun, at("on_jobs_ready"), context);
  const completes = at("on_jobs_complete").map((action) =>
    toStep(action, { needed: action.jobs, settled: true }, context),
  );
  const all = [...waiting, ...starts, ...readies, ...completes];
  const ends = chain(
    at("on_workflow_complete"),
    all.map(({ id }) => id),
    context,
  );
  const steps = [...starts, ...readies, ...completes, ...ends];
  return hasTakenName(steps, jobs, context) ? jobs : [...waiting, ...steps];
}

/** Chains steps in the order of the file: the first after `needed`, each of the others after the previous one. */
function chain(
  actions: readonly WatchedAction[],
  needed: readonly string[],
  context: ReadContext,
): readonly StepEntry[] {
  const ids = actions.map(idOf);
  return actions.map((action, place) =>
    toStep(action, { needed: place === 0 ? needed : [ids[place - 1]!], settled: true }, context),
  );
}

function afterStart(
  jobs: readonly StepEntry[],
  last: StepEntry | undefined,
  routed: ReadonlySet<string>,
): readonly StepEntry[] {
  if (last === undefined) return jobs;
  return jobs.map((job) => {
    const { depends_on: needed = [], start } = job.raw?.keys ?? {};
    const isRoot = needed.length === 0 && start !== "routed" && (start === "auto" || !routed.has(job.id));
    return isRoot ? withNeeded(job, [last.id]) : job;
  });
}

/**
 * What happens when some jobs are ready needs all that they need. Those that are ready only then wait for it; others have
 * begun before, and must not wait for more than they asked for.
 */
function beforeJobs(
  jobs: readonly StepEntry[],
  actions: readonly WatchedAction[],
  context: ReadContext,
): { readonly waiting: readonly StepEntry[]; readonly steps: readonly StepEntry[] } {
  const byId = new Map(jobs.map((job) => [job.id, job]));
  const waits = new Map<string, string[]>();
  const steps: StepEntry[] = [];
  let count = 0;
  for (const action of actions) {
    const watched = action.jobs.flatMap((id) => byId.get(id) ?? []);
    const needed = new Set(watched.flatMap(neededBy));
    count += needed.size;
    if (count > MAX_DEPENDENCIES) {
      reportTooManyDependencies(action.draft.node.at, action.draft.path, context);
      return { waiting: jobs, steps: [] };
    }
    for (const job of watched)
      if (neededBy(job).length === needed.size)
        waits.set(job.id, [...(waits.get(job.id) ?? []), idOf(action)]);
    const settled = watched.every(({ raw }) => raw?.keys.needs?.value === "settled");
    steps.push(toStep(action, { needed: [...needed], settled }, context));
  }
  const waiting = jobs.map((job) => withNeeded(job, waits.get(job.id) ?? []));
  return { waiting, steps };
}

/** The dependencies in the form of the file, each once. */
function neededBy({ raw }: StepEntry): string[] {
  const plain = (raw?.keys.depends_on ?? []).map(({ value }) =>
    value
      .split("|")
      .map((name) => name.trim())
      .join("|"),
  );
  return [...new Set(plain)];
}

function withNeeded(entry: StepEntry, ids: readonly string[]): StepEntry {
  const { raw } = entry;
  if (raw === null || ids.length === 0) return entry;
  const { at, path } = entry;
  const more = ids.map((value): Located<string> => ({ value, at, path }));
  const depends_on = [...(raw.keys.depends_on ?? []), ...more];
  return { ...entry, raw: { ...raw, keys: { ...raw.keys, depends_on } } };
}

function idOf({ draft, place }: WatchedAction): string {
  return `action_${place}_${draft.keys.trigger_type?.value ?? ""}`;
}

const NO_KEYS = Object.fromEntries(Object.keys(STEP_FIELDS).map((key) => [key, undefined])) as StepKeys;

function toStep(
  action: WatchedAction,
  { needed, settled }: { readonly needed: readonly string[]; readonly settled: boolean },
  context: ReadContext,
): StepEntry {
  const { keys: given, node, path } = action.draft;
  const { at } = node;
  const commands = given.commands ?? [];
  for (const { value: text, node: scalar, path: place } of commands)
    checkTemplate({ language: "template", text, node: scalar, path: place, shell: true }, context);
  const keys: StepKeys = {
    ...NO_KEYS,
    depends_on: needed.map((value) => ({ value, at, path })),
    needs: { value: settled && needed.length > 0 ? "settled" : "completed", at, path },
    continue_on_failure: true,
  };
  const exec = commands.map(({ value }) => `(\n${value}\n) || exit $?`).join("\n");
  return {
    id: idOf(action),
    at,
    path,
    raw: { keys, action: { type: "command", exec }, node, path },
    unsure: false,
  };
}

function hasTakenName(
  steps: readonly StepEntry[],
  jobs: readonly StepEntry[],
  { findings }: ReadContext,
): boolean {
  const taken = new Set(jobs.map(({ id }) => id));
  const twice = steps.filter(({ id }) => taken.has(id));
  for (const { id, at, path } of twice) {
    const message = `a job has the name ${quote(id)}, which is the name of this action's step`;
    findings.error({ code: "DUPLICATE_ID", message, hint: "Rename the job.", at, path });
  }
  return twice.length > 0;
}
