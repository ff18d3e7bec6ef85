import { durationAmount, sizeText } from "../text/amount-text.js";
import { nullable, number, type Of, object, text, word } from "../text/shape.js";
import type { ResourceRequirements, ScaleFactor, StepDefinition } from "./definition.js";
import type { Job } from "./run.js";

/** A shell says so that its program was killed by SIGKILL: 128 and the number of the signal. */
export const KILLED_EXIT_CODE = 137;

/** What an attempt can pass, and what can be raised then. */
export type Resource = "memory" | "runtime";

/**
 * The most that a job may get. `cluster` is the cluster whose limit it is; null if the rule or operator that raises it
 * has set it.
 */
export const LIMIT = object({ amount: number, cluster: nullable(text) });
export type Limit = Of<typeof LIMIT>;

/**
 * The lower of two limits: a rule or operator that raises an amount may set less than the cluster has, but not more.
 */
export function lowestLimit(set: number | null, onCluster: Limit | null): Limit | null {
  if (onCluster !== null && (set === null || onCluster.amount < set)) return onCluster;
  return set === null ? null : { amount: set, cluster: null };
}

/** `, cluster hpc` after the comma or words given; nothing where the limit is no cluster's. */
export function limitOwner(limit: Limit | null, before: string): string {
  return limit?.cluster == null ? "" : `${before}cluster ${limit.cluster}`;
}

/** More of one resource than the job had. Memory in bytes, runtime in milliseconds; `from` null: it had no limit. */
export const RAISE_FIELDS = { resource: word<Resource>(), from: nullable(number), to: number } as const;
export const RAISE = object(RAISE_FIELDS);
export type Raise = Of<typeof RAISE>;

/** What a job has instead of what its step asks for; null: as the step says. */
export interface RaisedResources {
  readonly memoryBytes: number | null;
  readonly runtimeMs: number | null;
}

/** What an operator gives a job. */
export interface Amounts {
  readonly memoryBytes?: number;
  readonly runtimeMs?: number;
}

interface ResourceTraits {
  readonly field: keyof RaisedResources;
  /** Amounts are rounded up to it, because schedulers count in these. */
  readonly unit: number;
  /** Nothing can run with less. */
  readonly least: number;
  /** Beyond this nothing can be asked for. */
  readonly most: number;
  /** The failure of an attempt that passed it. */
  readonly code: string;
  readonly exitCode: number;
  readonly text: (amount: number) => string;
}

const TRAITS: Readonly<Record<Resource, ResourceTraits>> = {
  memory: {
    field: "memoryBytes",
    unit: 1024 ** 2,
    least: 1024 ** 2,
    most: Number.MAX_SAFE_INTEGER,
    code: "OOM",
    exitCode: 137,
    text: sizeText,
  },
  // Timers of the platform hold no more than 24.8 days.
  runtime: {
    field: "runtimeMs",
    unit: 60_000,
    least: 1_000,
    most: 2_147_483_647,
    code: "WALLTIME",
    exitCode: 152,
    text: durationAmount,
  },
};

export const RESOURCES = Object.keys(TRAITS) as readonly Resource[];

/** The resources that an attempt of the job may use, for code that places, limits or records one. */
export function resourcesOf(
  { raised }: Pick<Job, "raised">,
  { resources }: Pick<StepDefinition, "resources">,
): ResourceRequirements | null {
  if (raised === null) return resources;
  return {
    ...(resources ?? NO_REQUIREMENTS),
    memoryBytes: raised.memoryBytes ?? resources?.memoryBytes ?? null,
    runtimeMs: raised.runtimeMs ?? resources?.runtimeMs ?? null,
  };
}

/** What a step that says nothing is given. */
const NO_REQUIREMENTS: ResourceRequirements = { cpus: 1, memoryBytes: null, runtimeMs: null };

/** The failure of an attempt that has passed this resource. */
export function failureOf(resource: Resource): Pick<ResourceTraits, "code" | "exitCode"> {
  const { code, exitCode } = TRAITS[resource];
  return { code, exitCode };
}

/** The resource that a failure with this code has passed. */
export function passedResource(code: string): Resource | null {
  return RESOURCES.find((resource) => TRAITS[resource].code === code) ?? null;
}

export function amountOf(resources: ResourceRequirements | null, resource: Resource): number | null {
  return resources?.[TRAITS[resource].field] ?? null;
}

export function withRaise(raised: RaisedResources | null, { resource, to }: Raise): RaisedResources {
  return { memoryBytes: null, runtimeMs: null, ...raised, [TRAITS[resource].field]: to };
}

/** `768 MiB`, `42 min`. */
export function amountText(resource: Resource, amount: number): string {
  return TRAITS[resource].text(amount);
}

/** `memory 512 MiB -> 768 MiB`. */
export function raiseText({ resource, from, to }: Raise): string {
  const before = from === null ? "" : `${amountText(resource, from)} -> `;
  return `${resource} ${before}${amountText(resource, to)}`;
}

/** From what the job has to what it is given. */
export function raisesTo(job: Pick<Job, "raised" | "step">, amounts: Amounts | undefined): Raise[] {
  const had = resourcesOf(job, job.step.definition);
  return RESOURCES.flatMap((resource) => {
    const to = amounts?.[TRAITS[resource].field];
    return to === undefined ? [] : [{ resource, from: amountOf(had, resource), to }];
  });
}

/** Why a raise is refused; null if it is larger than before and within the bounds. */
export function refuseRaise({ resource, from, to }: Raise): string | null {
  const { least, most } = TRAITS[resource];
  if (to < least) return `${resource} must be at least ${amountText(resource, least)}`;
  if (to > most) return `${resource} can be at most ${amountText(resource, most)}`;
  if (from === null || to > from) return null;
  return `${resource} must be more than the ${amountText(resource, from)} it has, not ${amountText(resource, to)}`;
}

/** The amounts that these come to. */
export function amountsOf(raises: readonly Raise[]): Amounts {
  return Object.fromEntries(raises.map(({ resource, to }) => [TRAITS[resource].field, to]));
}

/** What a job has of a resource, and the most that its failed attempt has used, where that is known. */
export interface Demand {
  readonly asked: number | null;
  readonly used: number | null;
}

export function demandOf(job: Pick<Job, "raised" | "step" | "used">, resource: Resource): Demand {
  const asked = amountOf(resourcesOf(job, job.step.definition), resource);
  return { asked, used: job.used?.[TRAITS[resource].field] ?? null };
}

/** The next larger amount; or why there is none. */
export type Raising =
  | { readonly kind: "raised"; readonly raise: Raise }
  | { readonly kind: "nothing_to_raise" }
  | { readonly kind: "at_resource_limit"; readonly limit: number };

/**
 * What the job asked for, or what it has used if that was more, times the factor, rounded up to the resource's unit: always
 * more than before, never more than the limit.
 */
export function raiseBy(
  resource: Resource,
  { asked: from, used }: Demand,
  { factor, max }: ScaleFactor,
): Raising {
  if (from === null) return { kind: "nothing_to_raise" };
  const { unit, most } = TRAITS[resource];
  const limit = Math.min(max ?? most, most);
  if (from >= limit) return { kind: "at_resource_limit", limit };
  const needed = Math.max(from, used ?? 0);
  const wanted = Math.ceil(Number(((needed * factor) / unit).toFixed(DECIMALS))) * unit;
  const atLeast = (Math.floor(from / unit) + 1) * unit;
  return { kind: "raised", raise: { resource, from, to: Math.min(limit, Math.max(wanted, atLeast)) } };
}

/** So that 10 min times 1.1 is 11 min, though binary fractions make it a little more. */
const DECIMALS = 6;
