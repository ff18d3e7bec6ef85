import type { SchedulerRequest } from "../../core/model/batch/scheduler-request.js";
import type { SchedulerDraft } from "../fields/scheduler-fields.js";
import type { StepEntry } from "../fields/step-entries.js";
import { MAX_DURATION_MS, parseGpus } from "../read/amounts.js";
import type { Located, ReadContext } from "../read/schema.js";
import { didYouMean, quote } from "../read/suggest.js";
import type { WatchedAction } from "./action-steps.js";

/** What a file says of Slurm. */
interface SlurmKeys {
  readonly slurm_schedulers: readonly SchedulerDraft[] | undefined;
  readonly slurm_defaults: ReadonlyMap<string, string> | undefined;
  readonly compute_node_expiration_buffer_seconds: Located<number> | undefined;
  readonly compute_node_wait_for_new_jobs_seconds: Located<number> | undefined;
  readonly compute_node_ignore_workflow_completion: Located<boolean> | undefined;
}

/** The schedulers that the jobs of a file name, and its actions. */
export interface SchedulerUse {
  /** The jobs alone. */
  readonly entries: readonly StepEntry[];
  /** Schedulers by job name. */
  readonly named: ReadonlyMap<string, Located<string>>;
  readonly actions: readonly WatchedAction[];
}

export interface FileSchedulers {
  readonly requests: readonly SchedulerRequest[];
  /** Schedulers by step id. */
  readonly of: ReadonlyMap<string, string>;
}

/** The name of the request that a file with defaults alone makes. */
const DEFAULTS_ALONE = "slurm_defaults";

/** What the file asks for, and for which steps; null: it asks for nothing. */
export function fileSchedulers(
  keys: SlurmKeys,
  use: SchedulerUse,
  entries: readonly StepEntry[],
  context: ReadContext,
): FileSchedulers | null {
  const drafts = (keys.slurm_schedulers ?? []).flatMap((draft) =>
    draft.name === undefined ? [] : [{ ...draft, name: draft.name.value }],
  );
  const nodes = use.actions.filter(
    ({ draft }) => draft.keys.action_type === "schedule_nodes" && draft.keys.scheduler !== undefined,
  );
  const names = drafts.map(({ name }) => name);
  for (const name of [...use.named.values(), ...nodes.map(({ draft }) => draft.keys.scheduler!)])
    reportUnknown(name, names, context);
  if (drafts.length === 0 && keys.slurm_defaults === undefined) {
    warnOfIdle(keys, context);
    return null;
  }
  const requests = drafts.length === 0 ? [{ name: DEFAULTS_ALONE }] : drafts;
  return {
    requests: requests.map((draft) => requestOf(draft, keys, nodes)),
    of: schedulersOfSteps(entries, use, nodes, requests[0]!.name),
  };
}

/** A scheduler with a name, whose other keys may be missing. */
type NamedDraft = { readonly name: string } & Partial<Omit<SchedulerDraft, "name">>;

function requestOf(draft: NamedDraft, keys: SlurmKeys, nodes: readonly WatchedAction[]): SchedulerRequest {
  const own = nodes.flatMap(({ draft: { keys } }) => (keys.scheduler?.value === draft.name ? [keys] : []));
  const parallel = own.flatMap(({ max_parallel_jobs: most }) => most ?? []);
  const defaults = keys.slurm_defaults ?? new Map<string, string>();
  const idle = keys.compute_node_wait_for_new_jobs_seconds;
  const buffer = keys.compute_node_expiration_buffer_seconds;
  const stays = keys.compute_node_ignore_workflow_completion?.value === true;
  const gpus = draft.gres ?? (draft.extra ?? []).map(gpusOfOption).find((found) => found !== null);
  return {
    name: draft.name,
    account: draft.account ?? defaults.get("account") ?? null,
    partition: draft.partition ?? null,
    qos: draft.qos ?? defaults.get("qos") ?? null,
    gres: gpus?.kind ?? null,
    gpus: gpus?.count ?? null,
    cpus: draft.ntasks_per_node ?? null,
    memoryBytes: draft.mem ?? null,
    runtimeMs: draft.walltime ?? null,
    options: optionsOf(draft, defaults),
    maxNodes:
      own.length === 0
        ? null
        : own.reduce((sum, { num_allocations: count = 1 }) => sum + count * (draft.nodes ?? 1), 0),
    maxParallelJobs: parallel.length === 0 ? null : Math.min(...parallel),
    drainMs: buffer === undefined ? null : Math.round(buffer.value * 1_000),
    idleExitMs: stays ? MAX_DURATION_MS : idle === undefined ? null : Math.round(idle.value * 1_000),
  };
}

/** Some files have the GPUs of an allocation among its other options. */
function gpusOfOption(option: string): ReturnType<typeof parseGpus> {
  return option.startsWith(GRES_OPTION) ? parseGpus(option.slice(GRES_OPTION.length)) : null;
}

const GRES_OPTION = "--gres=";
const OF_REQUEST = new Set(["account", "qos"]);

/** The scheduler's own, then the defaults that it does not set itself. */
function optionsOf({ tmp, extra = [] }: NamedDraft, defaults: ReadonlyMap<string, string>): string[] {
  const others = extra.filter((option) => gpusOfOption(option) === null);
  const own = [...(tmp === undefined ? [] : [`--tmp=${tmp}`]), ...others];
  const taken = new Set(own.map((option) => option.slice(2).split("=", 1)[0]));
  const more = [...defaults].flatMap(([name, value]) => {
    if (OF_REQUEST.has(name) || taken.has(name) || value === "false") return [];
    return [value === "true" || value === "" ? `--${name}` : `--${name}=${value}`];
  });
  return [...own, ...more];
}

/**
 * The scheduler of every step. Of a job: its own; that of the action by which nodes are asked for when the job is ready, or
 * when what it needs is complete; that of nodes for any job; the first of the file. Commands of an action run where a job
 * runs that they come after, or where the first job of the file does.
 */
function schedulersOfSteps(
  entries: readonly StepEntry[],
  { named, entries: jobs }: SchedulerUse,
  nodes: readonly WatchedAction[],
  first: string,
): ReadonlyMap<string, string> {
  const of = new Map([...named].map(([job, { value }]) => [job, value]));
  const afterJobs = new Map<string, string>();
  for (const { draft, jobs: watched } of nodes) {
    const { scheduler, trigger_type: trigger } = draft.keys;
    const given = trigger?.value === "on_jobs_complete" ? afterJobs : of;
    for (const job of watched) if (!given.has(job)) given.set(job, scheduler!.value);
  }
  const forAny =
    nodes.find(({ jobs: watched }) => watched.length === 0)?.draft.keys.scheduler?.value ?? first;
  const isJob = new Set(jobs.map(({ id }) => id));
  const needed = ({ raw }: StepEntry) => (raw?.keys.depends_on ?? []).map(({ value }) => value);
  for (const entry of entries) {
    if (!isJob.has(entry.id) || of.has(entry.id)) continue;
    of.set(entry.id, afterJobs.get(needed(entry).find((id) => afterJobs.has(id)) ?? "") ?? forAny);
  }
  for (const entry of entries) {
    if (isJob.has(entry.id)) continue;
    of.set(entry.id, of.get(needed(entry).findLast((id) => isJob.has(id)) ?? entries[0]!.id)!);
  }
  return of;
}

function reportUnknown(
  { value, at, path }: Located<string>,
  known: readonly string[],
  { findings }: ReadContext,
): void {
  if (known.includes(value)) return;
  const suggestion = didYouMean(findings.suggester.nearest(value, known));
  const message = `there is no scheduler ${quote(value)} in the list \`slurm_schedulers\`${suggestion}`;
  const hint = "Fix the name, or add the scheduler to the list.";
  findings.error({ code: "INVALID_VALUE", message, hint, at, path });
}

/** Limits of nodes that nobody asks for. */
function warnOfIdle(keys: SlurmKeys, { findings }: ReadContext): void {
  const given = [
    keys.compute_node_expiration_buffer_seconds,
    keys.compute_node_wait_for_new_jobs_seconds,
    keys.compute_node_ignore_workflow_completion,
  ];
  for (const each of given) {
    if (each === undefined || each.value === false) continue;
    const message = "it has an effect only in a file with `slurm_schedulers` or `slurm_defaults`";
    const hint = "Remove it, or set `drain` and `idle_exit` of the cluster in daruma.config.yaml.";
    findings.warn({ code: "NO_EFFECT", message, hint, at: each.at, path: each.path });
  }
}
