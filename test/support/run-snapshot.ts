import type { Gate } from "../../src/core/gate.js";
import type { Barrier, Job, Run, Scope, VisitRequest } from "../../src/core/run.js";

/** A run as plain data, jobs by their ids, so that two runs can be compared. `dirty` is no part of the fold. */
export function snapshotRun(run: Run): unknown {
  return {
    id: run.id,
    workflowId: run.workflowId,
    workflow: run.workflow,
    definitionHash: run.definitionHash,
    options: run.options,
    inputs: run.inputs,
    context: run.context,
    folder: run.folder,
    file: run.file,
    maxLoops: run.maxLoops,
    createdAt: run.createdAt,
    startedAt: run.startedAt,
    finishedAt: run.finishedAt,
    status: run.status,
    error: run.error,
    cancelRequested: run.cancelRequested,
    fatal: run.fatal,
    busy: run.busy,
    nextBarrier: run.nextBarrier,
    nextEvaluation: run.nextEvaluation,
    ready: ids(run.ready),
    running: ids(run.running),
    failed: ids(run.failed),
    barriers: [...run.barriers.values()].map(snapshotBarrier),
    scopes: [...run.scopes.values()].map(snapshotScope),
    jobs: run.jobs.map(snapshotJob),
  };
}

function ids(jobs: Iterable<Job>): number[] {
  return [...jobs].map((job) => job.id);
}

function snapshotBarrier(barrier: Barrier): unknown {
  return {
    id: barrier.id,
    targets: ids(barrier.targets),
    members: ids(barrier.members),
    endingAttempts: ids(barrier.endingAttempts),
  };
}

function snapshotScope(scope: Scope): unknown {
  const { parent, opener, jobs, children, branchGates, ...plain } = scope;
  return {
    ...plain,
    parent: parent?.id ?? null,
    opener: opener?.id ?? null,
    jobs: ids(jobs.values()),
    children: [...children].map(([step, scopes]) => [step.definition.id, scopes.map((child) => child.id)]),
    branchGates: [...branchGates].map(([step, gate]): [string, Gate] => [step.definition.id, gate]),
  };
}

function snapshotJob(job: Job): unknown {
  const { step, scope, barrier, partOf, list, requests, visitFor, beforeVisit, ...plain } = job;
  return {
    ...plain,
    step: step.definition.id,
    scope: scope.id,
    barrier: barrier?.id ?? null,
    partOf: partOf?.id ?? null,
    beforeVisit: { ...beforeVisit, partOf: beforeVisit.partOf?.id ?? null },
    list: list === null ? null : { ...list, jobs: ids(list.jobs) },
    requests: requests.map(snapshotRequest),
    visitFor: visitFor === null ? null : snapshotRequest(visitFor),
  };
}

function snapshotRequest({ by, role }: VisitRequest): unknown {
  return { by: by.id, role };
}
