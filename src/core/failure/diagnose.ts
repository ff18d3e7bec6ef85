import type { Scale } from "../model/definition.js";
import { hasTurnAtEnd } from "../model/ending/run-ending.js";
import { type Failure, traitsOf } from "../model/failure.js";
import { gateState } from "../model/gate.js";
import { isUnanswered } from "../model/handled.js";
import {
  amountText,
  demandOf,
  KILLED_EXIT_CODE,
  type Limit,
  limitOwner,
  lowestLimit,
  passedResource,
  type Raise,
  type Resource,
  raiseBy,
  raiseText,
} from "../model/resources.js";
import type { Job, Run } from "../model/run.js";

/** Why a job has not completed, as far as its recovery is concerned. */
export type Diagnosis =
  /** It used more memory, or took longer, than it asked for. */
  | Resource
  /** It was lost with its worker or machine, time and again. */
  | "lost"
  /** `fail_fast` ended it because of another failure. */
  | "prevented"
  /** Its own failure: nobody knows whether another try would help. */
  | "unknown";

/** What becomes of one job, and why. */
export interface Finding {
  readonly job: Job;
  readonly diagnosis: Diagnosis;
  readonly code: string;
  readonly recovers: boolean;
  readonly raise: Raise | null;
  /** The most that it may be given; null: no limit is known, or nothing is raised. */
  readonly limit: Limit | null;
  readonly why: FindingKind;
  readonly reason: string;
}

/** The limit of a cluster. `trouble` says why it is unknown now; `amount` is null if there is none. */
export type ClusterLimit =
  | { readonly cluster: string; readonly amount: number | null }
  | { readonly cluster: string; readonly trouble: string };

export type FindingKind =
  | "raised"
  | "retried"
  | "at_resource_limit"
  | "limit_unknown"
  | "nothing_to_raise"
  | "unknown_failure"
  | "nothing_recovered";

export interface RecoveryPolicy {
  readonly scale: Required<Scale>;
  /** Jobs whose failure is none of the known ones run again as well. */
  readonly retryUnknown: boolean;
  /** The limit of the cluster that the job runs on, which no other limit passes; null: it runs on none. */
  readonly limitOf?: (job: Job, resource: Resource) => ClusterLimit | null;
}

/** How much more a recovery gives, where nobody says. */
export const USUAL_SCALE: Required<Scale> = {
  memory: { factor: 1.5, max: null },
  runtime: { factor: 1.4, max: null },
};

/** Every job of the run that failed unhandled or is held, and what would be done about it. */
export function diagnose(run: Run, policy: RecoveryPolicy): Finding[] {
  const found = run.jobs.flatMap((job) => {
    // Undo and finally steps run again only while the run is at them.
    const isOfRun = job.step.atEnd === null || hasTurnAtEnd(run, job);
    const code = job.scope.open && job.barrier === null && isOfRun ? troubleOf(run, job) : null;
    return code === null ? [] : [findingFor(job, code, policy)];
  });
  if (found.some(({ recovers, diagnosis }) => recovers && diagnosis !== "prevented")) return found;
  return found.map((finding) => (finding.diagnosis === "prevented" ? left(finding) : finding));
}

/** What it failed with; null where nobody need do anything about it. */
function troubleOf(run: Run, job: Job): Failure | null {
  const failure = job.failure ?? job.error;
  switch (job.status) {
    case "held":
      return failure;
    case "failed":
      return isUnanswered(run, job) ? failure : null;
    case "canceled":
      return failure?.code === "FAIL_FAST" && gateState(job.gate) !== "lost" ? failure : null;
    default:
      return null;
  }
}

function findingFor(job: Job, failure: Failure, policy: RecoveryPolicy): Finding {
  const { code } = failure;
  const resource = passedResource(code) ?? passedResource(failure.cause?.code ?? "");
  if (resource !== null) return scaled(job, code, resource, policy);
  const again = { job, code, recovers: true, raise: null, limit: null, why: "retried" } as const;
  if (job.status === "canceled")
    return { ...again, diagnosis: "prevented", reason: "fail_fast ended it because of another failure" };
  if (traitsOf(failure.class).lost)
    return { ...again, diagnosis: "lost", reason: "it was lost with its worker" };
  if (policy.retryUnknown) return { ...again, diagnosis: "unknown", reason: "as it is (retry_unknown)" };
  return {
    ...again,
    diagnosis: "unknown",
    recovers: false,
    why: "unknown_failure",
    reason:
      failure.exit_code === KILLED_EXIT_CODE
        ? "something killed it, and nothing shows that it was for memory"
        : "not a matter of memory, time or a lost worker",
  };
}

function scaled(job: Job, code: string, resource: Resource, policy: RecoveryPolicy): Finding {
  const { scale, retryUnknown } = policy;
  const onCluster = policy.limitOf?.(job, resource) ?? null;
  const limit = lowestLimit(scale[resource].max, knownLimit(onCluster));
  const raising = raiseBy(resource, demandOf(job, resource), {
    ...scale[resource],
    max: limit?.amount ?? null,
  });
  const stays = { job, diagnosis: resource, code, recovers: false, raise: null, limit };
  switch (raising.kind) {
    case "raised": {
      const { raise } = raising;
      if (onCluster !== null && "trouble" in onCluster) {
        const reason = `the limits of cluster ${onCluster.cluster} are not known now: ${onCluster.trouble}`;
        return { ...stays, why: "limit_unknown", reason };
      }
      const reason =
        raiseText(raise) + (raise.to === limit?.amount ? limitOwner(limit, ", the limit of ") : "");
      return { ...stays, recovers: true, raise, why: "raised", reason };
    }
    case "at_resource_limit": {
      const most = amountText(resource, raising.limit) + limitOwner(limit, ", ");
      return { ...stays, why: raising.kind, reason: `${resource} is at its limit (${most})` };
    }
    case "nothing_to_raise":
      return {
        ...stays,
        recovers: retryUnknown,
        limit: null,
        why: retryUnknown ? "retried" : raising.kind,
        reason: `the step has no \`${resource}\` in resource_requirements that could be raised${retryUnknown ? "; as it is (retry_unknown)" : ""}`,
      };
  }
}

function knownLimit(onCluster: ClusterLimit | null): Limit | null {
  if (onCluster === null || "trouble" in onCluster || onCluster.amount === null) return null;
  return { amount: onCluster.amount, cluster: onCluster.cluster };
}

function left(finding: Finding): Finding {
  return {
    ...finding,
    recovers: false,
    why: "nothing_recovered",
    reason: "the failure that ended it is not recovered",
  };
}
