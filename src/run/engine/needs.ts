import { actionTraits } from "../../core/model/action-traits.js";
import type { KindOf } from "../../core/model/batch/ready-jobs.js";
import type { Definition, ResourceRequirements, StepDefinition } from "../../core/model/definition.js";
import { resourcesOf } from "../../core/model/resources.js";
import type { Job } from "../../core/model/run.js";
import { PROGRAM, SECRET } from "../../core/model/worker-names.js";
import { isTemplate } from "../sandbox/template.js";
import type { Needs, Worker } from "../worker.js";

export interface KeyedNeeds {
  readonly needs: Needs;
  /** Equal for steps with the same requirements. */
  readonly key: string;
}

const known = new WeakMap<StepDefinition, KeyedNeeds>();
/** Needs by key, for each definition: 100,000 steps with the same requirements share one object. */
const distinct = new WeakMap<object, Map<string, KeyedNeeds>>();

/** What a job requires of its worker: its step's resources, raised if it has exceeded them. */
export function needsOf(
  { step: { definition }, raised }: { readonly step: Pick<Job["step"], "definition"> } & Pick<Job, "raised">,
  workflow: Pick<Definition, "secrets" | "env">,
): KeyedNeeds {
  const found = raised === null ? known.get(definition) : undefined;
  if (found !== undefined) return found;
  const keyed = shared(keyedNeeds(definition, resourcesOf({ raised }, definition), workflow), workflow);
  if (raised === null) known.set(definition, keyed);
  return keyed;
}

function shared(keyed: KeyedNeeds, workflow: object): KeyedNeeds {
  const ofWorkflow = distinct.get(workflow) ?? new Map<string, KeyedNeeds>();
  distinct.set(workflow, ofWorkflow);
  const found = ofWorkflow.get(keyed.key) ?? keyed;
  ofWorkflow.set(keyed.key, found);
  return found;
}

function keyedNeeds(
  step: StepDefinition,
  resources: ResourceRequirements | null,
  workflow: Pick<Definition, "secrets" | "env">,
): KeyedNeeds {
  const { action } = step;
  const needs: Needs = {
    // A child run's own steps take slots. If its waiting parent held one, none might be left for them.
    slots: actionTraits(action.type).doneBy === "server" ? 0 : (resources?.slots ?? resources?.cpus ?? 1),
    cpus: resources?.cpus ?? 0,
    memoryBytes: resources?.memoryBytes ?? 0,
    gpus: resources?.gpus ?? 0,
    nodes: resources?.nodes ?? 1,
    runtimeMs: resources?.runtimeMs ?? step.timeoutMs,
    // Definitions that were stored before `runs_on` existed do not have it.
    tags: step.runsOn ?? [],
    wants: wantsOf(step, workflow),
    actionType: action.type,
    // This field is missing there, too.
    usesWorkspace: step.usesWorkspace ?? false,
  };
  return { needs, key: JSON.stringify(needs) };
}

/**
 * The programs that a worker must have. A program is known if a step is a list of words that begins with its name and
 * uses the worker's PATH.
 */
function wantsOf(
  { action, env }: StepDefinition,
  { secrets, env: shared }: Pick<Definition, "secrets" | "env">,
): readonly string[] {
  if (actionTraits(action.type).doneBy !== "worker") return [];
  const [program] = action.type === "command" && Array.isArray(action.exec) ? action.exec : [];
  const isKnown =
    typeof program === "string" && PROGRAM_NAME.test(program) && !("PATH" in env || "PATH" in shared);
  return [...secrets.map((name) => `${SECRET}${name}`), ...(isKnown ? [`${PROGRAM}${program}`] : [])];
}

const PROGRAM_NAME = /^[A-Za-z0-9][A-Za-z0-9._+-]{0,99}$/;

/** Whether a worker could take the job at this moment. */
export function hasPlace(
  worker: Pick<Worker, "place" | "release">,
  job: Pick<Job, "step" | "raised">,
  workflow: Pick<Definition, "secrets" | "env">,
): boolean {
  const place = worker.place(needsOf(job, workflow).needs);
  if (place === null || place === "full") return false;
  worker.release(place);
  return true;
}

const kinds = new WeakMap<Definition, KindOf>();

/**
 * The function that groups a definition's jobs by needs; it is the same one on every call. Jobs that need no worker
 * form a kind of their own.
 */
export function kindsIn(definition: Definition): KindOf {
  const found = kinds.get(definition);
  if (found !== undefined) return found;
  const kindOf: KindOf = (job) => (needsNobody(job, definition) ? "" : needsOf(job, definition).key);
  kinds.set(definition, kindOf);
  return kindOf;
}

/** Whether the job starts without a worker: a question to people, or nothing to do. */
export function needsNobody({ step }: Pick<Job, "step">, workflow: Definition): boolean {
  return step.definition.action.type === "human" || isNothing(workflow, step.definition);
}

const roomless = new WeakMap<Definition, boolean>();

const nothing = new WeakMap<StepDefinition, boolean>();

/** Whether starting a step also finishes it: a worker would have nothing to render, check or write. */
export function isNothing({ env }: Definition, step: StepDefinition): boolean {
  const { action } = step;
  if (action.type !== "noop") return false;
  const found = nothing.get(step);
  if (found !== undefined) return found;
  const is =
    action.output === undefined &&
    step.outputSchema === null &&
    step.failIf === undefined &&
    step.files === undefined &&
    step.userData === undefined &&
    step.resources === null &&
    !step.forEach &&
    !step.usesWorkspace &&
    (step.runsOn ?? []).length === 0 &&
    ![...Object.values(env), ...Object.values(step.env), step.cwd ?? ""].some(isTemplate);
  nothing.set(step, is);
  return is;
}

/** Whether some steps start even if no worker has room: questions to people, child runs, steps that do nothing. */
export function hasRoomlessSteps(definition: Definition): boolean {
  const found = roomless.get(definition);
  if (found !== undefined) return found;
  const has = definition.steps.some(
    (step) => actionTraits(step.action.type).doneBy !== "worker" || isNothing(definition, step),
  );
  roomless.set(definition, has);
  return has;
}
