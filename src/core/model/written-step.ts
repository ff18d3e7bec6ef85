import type { Job } from "./run.js";

/** The place of a job: its step and scope, and the family of steps that the file writes as one. */
export interface StepPlace {
  readonly step: string;
  readonly scope: string;
  /**
   * The name of its job in the batch form, as the file writes it, where that makes several steps, or what a program calls
   * several times; null: it is the only one.
   */
  readonly family: string | null;
}

/** The step as the file writes it, by which problems, messages, the failure book and statistics count. */
export function writtenStep({ step, family }: Pick<StepPlace, "step" | "family">): string {
  return family ?? step;
}

/** Items of a fan-out and steps of a family: those of one run are looked at as one. */
export function isOneOfSeveral({ scope, family }: Pick<StepPlace, "scope" | "family">): boolean {
  return scope !== "root" || family !== null;
}

/** What the program of a flow calls again by one name counts up: `turn#2` is a turn. */
function familyOf(id: string): string | null {
  return id.includes("#") ? id.replace(/#\d+/g, "") : null;
}

export function stepPlace({ step: { definition }, scope }: Job): StepPlace {
  return { step: definition.id, scope: scope.id, family: definition.family ?? familyOf(definition.id) };
}
