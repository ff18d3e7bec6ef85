import type { Scale } from "../model/definition.js";
import { type Failure, traitsOf } from "../model/failure.js";
import { gateState } from "../model/gate.js";
import { isHandled } from "../model/handled.js";
import {
  amountOf,
  amountText,
  passedResource,
  type Raise,
  type Resource,
  raiseBy,
  raiseText,
  resourcesOf,
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
  readonly why: FindingKind;
  readonly reason: string;
}

export type FindingKind =
  | "raised"
  | "retried"
  | "at_resource_limit"
  | "nothing_to_raise"
  | "unknown_failure"
  | "nothing_recovered";

export interface RecoveryPolicy {
  readonly scale: Required<Scale>;
  /** Jobs whose failure is none of the known ones run again as well. */
  readonly retryUnknown: boolean;
}

/** Every job of the run that failed unhandled or is held, and what would be done about it. */
export function diagnose(run: Run, policy: RecoveryPolicy): Finding[] {
  const found = run.jobs.flatMap((job) => {
    const code = job.scope.open && job.barrier === null ? troubleOf(job) : null;
    return code === null ? [] : [findingFor(job, code, policy)];
  });
  if (found.some(({ recovers, diagnosis }) => recovers && diagnosis !== "prevented")) return found;
  return found.map((finding) => (finding.diagnosis === "prevented" ? left(finding) : finding));
}

/** What it failed with; null where nobody need do anything about it. */
function troubleOf(job: Job): Failure | null {
  const failure = job.failure ?? job.error;
  switch (job.status) {
    case "pending_failed":
      return failure;
    case "failed":
      // A repair step's failure belongs to the step that it was to repair.
      return job.partOf !== null || isHandled(job) ? null : failure;
    case "canceled":
      return failure?.code === "FAIL_FAST" && gateState(job.gate) !== "lost" ? failure : null;
    default:
      return null;
  }
}

function findingFor(job: Job, failure: Failure, { scale, retryUnknown }: RecoveryPolicy): Finding {
  const { code } = failure;
  const resource = passedResource(code) ?? passedResource(failure.cause?.code ?? "");
  if (resource !== null) return scaled(job, code, resource, { scale, retryUnknown });
  const again = { job, code, recovers: true, raise: null, why: "retried" } as const;
  if (job.status === "canceled")
    return { ...again, diagnosis: "prevented", reason: "fail_fast ended it because of another failure" };
  if (traitsOf(failure.class).lost)
    return { ...again, diagnosis: "lost", reason: "it was lost with its worker" };
  if (retryUnknown)
    return { ...again, diagnosis: "unknown", reason: "it runs again as it is (retry_unknown)" };
  return {
    ...again,
    diagnosis: "unknown",
    recovers: false,
    why: "unknown_failure",
    reason: "not a matter of memory, time or a lost worker",
  };
}

function scaled(
  job: Job,
  code: string,
  resource: Resource,
  { scale, retryUnknown }: RecoveryPolicy,
): Finding {
  const raising = raiseBy(
    resource,
    amountOf(resourcesOf(job, job.step.definition), resource),
    scale[resource],
  );
  const about = { job, diagnosis: resource, code };
  switch (raising.kind) {
    case "raised":
      return {
        ...about,
        recovers: true,
        raise: raising.raise,
        why: "raised",
        reason: raiseText(raising.raise),
      };
    case "at_resource_limit":
      return {
        ...about,
        recovers: false,
        raise: null,
        why: raising.kind,
        reason: `${resource} is at its limit (${amountText(resource, raising.limit)})`,
      };
    case "nothing_to_raise":
      return {
        ...about,
        recovers: retryUnknown,
        raise: null,
        why: retryUnknown ? "retried" : raising.kind,
        reason: `the step has no \`${resource}\` in resource_requirements that could be raised${retryUnknown ? "; it runs again as it is (retry_unknown)" : ""}`,
      };
  }
}

function left(finding: Finding): Finding {
  return {
    ...finding,
    recovers: false,
    why: "nothing_recovered",
    reason: "the failure that ended it is not recovered",
  };
}
