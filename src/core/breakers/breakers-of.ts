import type { BreakerDefinition, Definition } from "../model/definition.js";
import type { Job, Run } from "../model/run.js";

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
