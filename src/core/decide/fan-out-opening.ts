import { type Job, scopesUnder } from "../model/run.js";
import { giveUpLost, startAll } from "./cascade.js";
import type { Decision } from "./decision.js";
import { decideJoinsOf } from "./join.js";

/** A forEach job has completed: open a scope for each item and start what can start in it. */
export function openScopesOf(decision: Decision, job: Job): void {
  if (!job.step.definition.forEach || decision.run.options.only !== null) return;
  decision.emit({ type: "scopes.opened", job: job.id, generation: job.visit, items: job.items ?? [] });
  const jobs: Job[] = [];
  for (const scope of job.scope.children.get(job.step) ?? []) {
    for (const inner of scope.open ? scopesUnder(scope) : []) jobs.push(...inner.jobs.values());
  }
  startAll(decision, jobs, "dependencies");
  giveUpLost(decision, jobs);
  decideJoinsOf(decision, job);
}
