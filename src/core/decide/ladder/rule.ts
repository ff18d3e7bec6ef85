import type { FailureHandler, FailureRule } from "../../model/definition.js";
import type { HandlerOutcome } from "../../model/events.js";
import type { Failure } from "../../model/failure.js";
import {
  amountText,
  demandOf,
  type Limit,
  limitOwner,
  lowestLimit,
  passedResource,
  type Raise,
  type Raising,
  type Resource,
  raiseBy,
  raiseText,
} from "../../model/resources.js";
import type { Job, Run } from "../../model/run.js";
import { boundReason, isAtBound } from "../loop-budget.js";
import { startRecovery } from "../recovery.js";
import { NO_ATTEMPT, pass, type Rung, USELESS } from "./rung.js";

/** The step's failure handler has a rule for this exit code, with attempts left: reserve the retry, repair, run again. */
export const ruleRung: Rung = {
  name: "rule",
  triesAgain: true,
  turnedOffBy: "routing",
  consider({ run, job, failure, decision }) {
    const match = matchRule(run, job, failure);
    switch (match.outcome) {
      case "NoHandler":
        return pass("not_configured", "the step has no failure handler");
      case "NoMatchingRule":
        if (failure.attempt === null) return NO_ATTEMPT;
        return pass("no_rule_matches", `${match.handler.name} has no rule for ${describeCode(failure)}`);
      case "Error":
        return USELESS;
      case "MaxRetriesExceeded":
        return pass(
          "no_attempts_left",
          boundReason(job) ?? `${match.handler.name}: no attempts left (${match.rule.maxAttempts} used)`,
        );
      case "LimitReached":
        return pass(match.why.kind, `${match.handler.name}: ${limitReason(match.why)}`);
      case "Retried": {
        const { handler, rule, index, raise } = match;
        const next = job.attempt + 1;
        const more = raise === null ? "" : `, ${raiseText(raise)}`;
        return {
          kind: "act",
          reason: `${handler.name}: rule ${index + 1} for ${describeCode(failure)}, attempt ${job.charged + 1} of ${rule.maxAttempts}${rule.recoveryScript === null ? "" : " after its recovery script"}${more}`,
          act() {
            decision.emit({
              type: "rule.reserved",
              job: job.id,
              attempt: job.attempt,
              next,
              handler: handler.name,
              rule: index + 1,
              exit_code: failure.exit_code,
              max_attempts: rule.maxAttempts,
              script: rule.recoveryScript,
              ...(raise === null ? {} : { raised: raise }),
            });
            if (rule.recoveryScript === null)
              decision.emit({ type: "jobs.ready", jobs: [job.id], reason: "rule" });
            else startRecovery(decision, job);
          },
        };
      }
    }
  },
};

type RuleMatch =
  | { readonly outcome: "NoHandler" }
  | { readonly outcome: "NoMatchingRule" | "Error"; readonly handler: FailureHandler }
  | ({ readonly outcome: "MaxRetriesExceeded" } & MatchedRule)
  | ({ readonly outcome: "LimitReached"; readonly why: NoRaise } & MatchedRule)
  /** `raise` is what the failed attempt has passed, where the rule scales that. */
  | ({ readonly outcome: "Retried"; readonly raise: Raise | null } & MatchedRule);

interface MatchedRule {
  readonly handler: FailureHandler;
  readonly rule: FailureRule;
  readonly index: number;
}

type NoRaise = Exclude<Raising, { kind: "raised" }> & {
  readonly resource: Resource;
  readonly limitIs: Limit | null;
};

/** Exactly one rule is matched: one that names the code, whatever its place, else the catch-all. */
export function matchRule(run: Run, job: Job, failure: Failure): RuleMatch {
  const handler = run.definition.failureHandlers.find(
    ({ name }) => name === job.step.definition.failureHandler,
  );
  if (handler === undefined) return { outcome: "NoHandler" };
  // Rules repeat attempts and are bounded by their number: where none was made, none matches.
  if (failure.attempt === null) return { outcome: "NoMatchingRule", handler };
  const specific = handler.rules.findIndex(
    (rule) => failure.exit_code !== null && rule.exitCodes.includes(failure.exit_code),
  );
  const index = specific >= 0 ? specific : handler.rules.findIndex((rule) => rule.matchAll);
  const rule = handler.rules[index];
  if (rule === undefined) return { outcome: "NoMatchingRule", handler };
  if (failure.final) return { outcome: "Error", handler };
  const isSpent = isAtBound(job) || job.charged >= rule.maxAttempts;
  if (isSpent) return { outcome: "MaxRetriesExceeded", handler, rule, index };
  const resource = passedResource(failure.code);
  const scale = resource === null ? undefined : rule.scale?.[resource];
  if (resource === null || scale === undefined)
    return { outcome: "Retried", handler, rule, index, raise: null };
  const limitIs = lowestLimit(scale.max, failure.resource_limit ?? null);
  const raising = raiseBy(resource, demandOf(job, resource), {
    ...scale,
    max: limitIs?.amount ?? null,
  });
  return raising.kind === "raised"
    ? { outcome: "Retried", handler, rule, index, raise: raising.raise }
    : { outcome: "LimitReached", handler, rule, index, why: { ...raising, resource, limitIs } };
}

function limitReason(why: NoRaise): string {
  return why.kind === "nothing_to_raise"
    ? `the step has no \`${why.resource}\` in resource_requirements that could be raised`
    : `${why.resource} is at its limit (${amountText(why.resource, why.limit)}${limitOwner(why.limitIs, ", ")})`;
}

export function handlerOutcome(run: Run, job: Job, failure: Failure): HandlerOutcome {
  return matchRule(run, job, failure).outcome;
}

function describeCode(failure: Failure): string {
  return failure.exit_code === null ? "a failure without exit code" : `exit code ${failure.exit_code}`;
}
