import type { BreakerDefinition, Definition } from "../model/definition.js";
import type { Job, Run } from "../model/run.js";

export type BreakerPolicy = Omit<BreakerDefinition, "name">;

/** `spent`: it was open for as long as it may be, and stops nothing until an attempt succeeds. */
export type BreakerState = "closed" | "open" | "spent";

/** What all engines of a store know of one breaker. Times are on the store's clock. */
export interface Breaker {
  /** The policy of the last writer. Each engine uses its own. */
  readonly policy: BreakerPolicy;
  /** When it was failed, the last times while it is closed; no more than it takes to open it. */
  readonly failures: readonly number[];
  readonly opened: Opening | null;
  /** The attempt that finds out whether it works again. */
  readonly probe: Probe | null;
  /** When the last probe was let through since it opened. */
  readonly probedAt: number | null;
  /** How often it has opened. */
  readonly openings: number;
  readonly closed: { readonly at: number; readonly by: string | null; readonly reason: string } | null;
}

interface Opening {
  readonly at: number;
  /** Who changed it by hand; null if failures did. What was opened by hand is only closed by hand. */
  readonly by: string | null;
  readonly reason: string;
}

/** It is over with the attempt, or when the run has another owner. */
export interface Probe {
  readonly engine: string;
  readonly run: number;
  readonly job: number;
  readonly at: number;
}

export function newBreaker(policy: BreakerPolicy): Breaker {
  return {
    policy,
    failures: [],
    opened: null,
    probe: null,
    probedAt: null,
    openings: 0,
    closed: null,
  };
}

export function stateOf({ opened }: Breaker, { maxOpenMs }: BreakerPolicy, now: number): BreakerState {
  if (opened === null) return "closed";
  return opened.by === null && now >= opened.at + maxOpenMs ? "spent" : "open";
}

/** When it is spent; null: never, as it is closed or was opened by hand. */
export function spentAt({ opened }: Breaker, { maxOpenMs }: BreakerPolicy): number | null {
  return opened === null || opened.by !== null ? null : opened.at + maxOpenMs;
}

/** When an attempt may find out; null: never. */
export function nextProbeAt({ opened, probedAt }: Breaker, { probeEveryMs }: BreakerPolicy): number | null {
  return opened === null || opened.by !== null ? null : (probedAt ?? opened.at) + probeEveryMs;
}

/** Failures that still count: how many more it takes is the policy's number less this. */
export function countFailures({ failures }: Breaker, { withinMs }: BreakerPolicy, now: number): number {
  return failures.filter((at) => at > now - withinMs).length;
}

/** Notes that this many attempts have failed just now, the last one with `reason`. It opens if they fill the window. */
export function noteFailures(
  breaker: Breaker,
  policy: BreakerPolicy,
  failed: { readonly count: number; readonly reason: string },
  now: number,
): Breaker {
  if (breaker.opened !== null) return breaker;
  const recent = breaker.failures.filter((at) => at > now - policy.withinMs);
  const failures = [...recent, ...Array.from({ length: failed.count }, () => now)];
  if (failures.length < policy.failures) return { ...breaker, policy, failures };
  return open({ ...breaker, policy }, { at: now, by: null, reason: failed.reason });
}

function open(breaker: Breaker, opened: Opening): Breaker {
  return {
    ...breaker,
    failures: [],
    opened,
    probe: null,
    probedAt: null,
    openings: breaker.opened === null ? breaker.openings + 1 : breaker.openings,
  };
}

/** An attempt that began at this time has succeeded. */
export function noteSuccess(breaker: Breaker, begunAt: number, now: number): Breaker {
  const { opened } = breaker;
  if (opened === null || opened.by !== null || begunAt < opened.at) return breaker;
  return close(breaker, { at: now, by: null, reason: "an attempt succeeded" });
}

function close(breaker: Breaker, closed: NonNullable<Breaker["closed"]>): Breaker {
  return { ...breaker, failures: [], opened: null, probe: null, probedAt: null, closed };
}

export function letProbe(breaker: Breaker, probe: Probe): Breaker {
  return { ...breaker, probe, probedAt: probe.at };
}

/** The attempt is over, or will not be. */
export function endProbe(breaker: Breaker, { engine, job }: Pick<Probe, "engine" | "job">): Breaker {
  const { probe } = breaker;
  return probe?.engine === engine && probe.job === job ? { ...breaker, probe: null } : breaker;
}

/** One that failures have opened is the hand's from now on. */
export function openByHand(breaker: Breaker, by: string, reason: string, now: number): Breaker {
  return open(breaker, { at: now, by, reason });
}

export function closeByHand(breaker: Breaker, by: string, reason: string, now: number): Breaker {
  return breaker.opened === null ? breaker : close(breaker, { at: now, by, reason });
}

/** A breaker that a step uses, by the name under which all engines of the store know it. */
export interface UsedBreaker {
  readonly key: string;
  readonly policy: BreakerDefinition;
}

/** The breakers of the settings. */
export type SharedBreakers = ReadonlyMap<string, BreakerDefinition>;

/** A workflow's own breakers are apart from those of others, and from the settings' of the same name. */
export function ownKey(workflow: string, name: string): string {
  return `${workflow}/${name}`;
}

/** What a run, or a workflow that could be run, says of the breakers that its steps use. */
export interface BreakerUser extends Pick<Run, "definition" | "workflow"> {
  readonly options: Pick<Run["options"], "only" | "failure_routing">;
}

/** None where the run does without. A name that is in neither is of settings that are no longer what they were: it stops nothing. */
export function breakersOf(
  { definition, options, workflow }: BreakerUser,
  { step }: { readonly step: Pick<Job["step"], "definition"> },
  shared: SharedBreakers,
): readonly UsedBreaker[] {
  const { uses } = step.definition;
  if (uses === undefined || options.only !== null || !options.failure_routing) return [];
  return uses.flatMap((name): UsedBreaker[] => {
    const own = ownBreaker(definition, name);
    if (own !== undefined) return [{ key: ownKey(workflow, name), policy: own }];
    const policy = shared.get(name);
    return policy === undefined ? [] : [{ key: name, policy }];
  });
}

function ownBreaker({ breakers }: Definition, name: string): BreakerDefinition | undefined {
  return breakers?.find((each) => each.name === name);
}
