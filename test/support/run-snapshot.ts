import type { Barrier } from "../../src/core/model/barrier.js";
import type { Gate } from "../../src/core/model/gate.js";
import type { LedBy, Repair } from "../../src/core/model/led-by.js";

import type { Route } from "../../src/core/model/route.js";
import type { Job, Run, Scope, VisitRequest } from "../../src/core/model/run.js";

import type { Leftover } from "../../src/core/model/workspace-state.js";

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
    parent: run.parent,
    failureHandlerIds: [...run.failureHandlerIds],
    maxLoops: run.maxLoops,
    createdAt: run.createdAt,
    startedAt: run.startedAt,
    finishedAt: run.finishedAt,
    status: run.status,
    error: run.error,
    cancelRequested: run.cancelRequested,
    paused: run.paused,
    stepRequest: run.stepRequest && { ...run.stepRequest, job: run.stepRequest.job.id },
    fatal: run.fatal,
    busy: run.busy,
    nextBarrier: run.nextBarrier,
    nextEvaluation: run.nextEvaluation,
    ready: ids(run.ready),
    running: ids(run.running),
    failed: ids(run.failed),
    held: ids(run.held),
    routed: ids(run.routed),
    userData: [...run.userData],
    reuse: [...run.reuse],
    operatorKeys: [...run.operatorKeys],
    book: {
      rows: run.book.rows,
      begunAt: run.book.begunAt,
      met: [...run.book.met],
      open: [...run.book.open].map(([id, { met, ...open }]) => ({ id, ...open, met: [...met] })),
    },
    workspace: snapshotWorkspace(run),
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
    targets: [...barrier.targets].map(([job, { ledBy, ...how }]) => [job.id, how, snapshotOrigin(ledBy)]),
    members: ids(barrier.members),
    endingAttempts: ids(barrier.endingAttempts),
    files: barrier.files,
    rebuild: barrier.rebuild,
    restored: barrier.restored,
  };
}

function snapshotWorkspace({ workspace }: Run): unknown {
  const { checkpoints, running, resetting, rebuild, leftover, mending, aside, ...plain } = workspace;
  return {
    ...plain,
    checkpoints: checkpoints.map(({ job, ...checkpoint }) => ({ ...checkpoint, job: job.id })),
    running: running?.id ?? null,
    resetting: ids(resetting),
    leftover: snapshotLeftover(leftover),
    mending: mending.map(({ job, ...how }) => ({ ...how, job: job.id })),
    aside:
      aside === null ? null : { ...aside, leftover: snapshotLeftover(aside.leftover), for: aside.for.id },
    rebuild:
      rebuild === null
        ? null
        : { ...rebuild, job: rebuild.job.id, leftover: snapshotLeftover(rebuild.leftover) },
  };
}

function snapshotLeftover(leftover: Leftover | null): unknown {
  return leftover === null ? null : { ...leftover, job: leftover.job.id };
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
  const { step, scope, barrier, partOf, list, requests, visitFor, beforeVisit, ...rest } = job;
  const { route, ledBy, repairs, routedHere, stoodInBy, skippedBy, outcomes, ...plain } = rest;
  return {
    ...plain,
    step: step.definition.id,
    scope: scope.id,
    barrier: barrier?.id ?? null,
    partOf: partOf?.id ?? null,
    beforeVisit: {
      ...beforeVisit,
      partOf: beforeVisit.partOf?.id ?? null,
      stoodInBy: beforeVisit.stoodInBy?.id ?? null,
      route: snapshotRoute(beforeVisit.route),
      ledBy: snapshotOrigin(beforeVisit.ledBy),
    },
    route: snapshotRoute(route),
    ledBy: snapshotOrigin(ledBy),
    repairs: repairs.map(snapshotRepair),
    routedHere: ids(routedHere),
    stoodInBy: stoodInBy?.id ?? null,
    skippedBy: skippedBy?.id ?? null,
    outcomes: [...outcomes].map(([visit, outcome]) => [
      visit,
      { ...outcome, route: snapshotRoute(outcome.route) },
    ]),
    list: list === null ? null : { ...list, jobs: ids(list.jobs) },
    requests: requests.map(snapshotRequest),
    visitFor: visitFor === null ? null : snapshotRequest(visitFor),
  };
}

function snapshotRoute(route: Route | null): unknown {
  return route === null ? null : { ...route, target: route.target.id };
}

function snapshotOrigin(from: LedBy | null): unknown {
  return from === null ? null : { ...from, job: from.job.id };
}

function snapshotRequest({ by, role }: VisitRequest): unknown {
  return { by: by.id, role };
}

function snapshotRepair(repair: Repair): unknown {
  return repair.kind === "step" ? { ...repair, job: repair.job.id } : repair;
}
