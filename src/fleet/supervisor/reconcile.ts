import type { AllocationRow, ClusterRow, ClusterState } from "../../store/cluster-rows.js";
import type { AllocationEnd } from "../allocations/allocation-end.js";
import type { AllocationProvider, AllocationStatus } from "../allocations/provider.js";
import { laneAmong } from "../allocations/requests/lane.js";
import type { Demand } from "../allocations/scale/demand.js";
import type { SupervisorPorts } from "./supervisor-ports.js";

const FIRST_BACKOFF_MS = 30_000;
const MAX_BACKOFF_MS = 15 * 60_000;

/** After this many allocations in a row without a worker nothing more is submitted. */
const MAX_FAILURES = 3;

/** How long to wait after `failures` allocations in a row ended without a worker. */
function backoffMs(failures: number): number {
  return Math.min(FIRST_BACKOFF_MS * 2 ** Math.max(0, failures - 1), MAX_BACKOFF_MS);
}

/** What was seen of the batch system and of the workers since the rows were written. */
export interface Observed {
  /** Every incarnation of each id, the newest last. */
  readonly statuses: ReadonlyMap<string, readonly AllocationStatus[]>;
  /** Ids by key, where the queue was asked for them; null: it was not, or did not answer. */
  readonly found: ReadonlyMap<string, string> | null;
  /** Whether the worker of this incarnation has ever come. */
  readonly hadPilot: (row: AllocationRow, restart: number) => boolean;
  /** Submissions of this process that are under way. */
  readonly submitting: ReadonlySet<string>;
  readonly now: number;
}

interface EndedIncarnation {
  readonly row: AllocationRow;
  readonly restart: number;
  readonly end: Pick<AllocationEnd, "code" | "message">;
}

interface Reconciled {
  readonly cluster: ClusterRow;
  /** The present allocations, including those that have just ended. */
  readonly allocations: readonly AllocationRow[];
  readonly ended: readonly EndedIncarnation[];
}

/** How long after its row was made a submission that cannot be found counts as failed. */
export const LOST_SUBMIT_MS = 60_000;
/** How long after its start an allocation without a worker is given up. */
export const NO_PILOT_MS = 5 * 60_000;
/** How long a node is avoided. */
export const EXCLUDED_MS = 60 * 60_000;

/** Ends that say nothing about whether the next allocation will have a worker. */
const NOBODYS_FAULT: ReadonlySet<string> = new Set(["PREEMPTED", "REQUEUED", "NEVER_SUBMITTED", "DRAINED"]);

/** Brings this server's rows up to what was observed. Pure: what it finds has happened already. */
export function reconcile(
  state: ClusterState,
  mine: (row: AllocationRow) => boolean,
  observed: Observed,
  classify: AllocationProvider["classify"],
): Reconciled {
  let { cluster } = state;
  const ended: EndedIncarnation[] = [];
  const allocations = state.allocations.map((row) => {
    if (!mine(row)) return row;
    const step = settle(row, observed, classify);
    ended.push(...step.ended);
    if (step.row.pilot_at !== null && row.pilot_at === null)
      cluster = { ...cluster, failures: 0, retry_at: null };
    const isGivenUp = row.outcome === null && step.row.outcome !== null && step.row.state !== "ended";
    if (isGivenUp) cluster = afterFailure(cluster, step.row.outcome.message, observed.now);
    // One that was given up before has already been counted.
    if (step.row.state === "ended" && row.outcome === null)
      cluster = afterEnd(cluster, step.row, step.isSuspect, observed.now);
    return step.row;
  });
  return { cluster, allocations, ended };
}

interface Settled {
  readonly row: AllocationRow;
  readonly ended: readonly EndedIncarnation[];
  readonly isSuspect: boolean;
}

function settle(row: AllocationRow, observed: Observed, classify: AllocationProvider["classify"]): Settled {
  if (row.id === null) return { row: findSubmitted(row, observed), ended: [], isSuspect: false };
  const incarnations = observed.statuses.get(row.id) ?? [];
  const newest = incarnations.at(-1);
  if (newest === undefined) return { row, ended: [], isSuspect: false };
  const judge = (status: AllocationStatus, of: AllocationRow): AllocationEnd | null =>
    classify(status, {
      registered: of.pilot_at !== null,
      cancelAsked: of.cancel !== null,
      unknownForMs: of.unknown_since === null ? 0 : observed.now - of.unknown_since,
    });
  const seen = withStatus(row, newest, observed);
  const before = incarnations
    .filter(({ restart }) => restart >= row.restart && restart < newest.restart)
    .map((status) => ({ row, restart: status.restart, end: judge(status, seen) ?? REQUEUED }));
  const end = judge(newest, seen);
  if (end === null) return { row: withGivenUp(seen, observed), ended: before, isSuspect: false };
  // Its end comes when it has left the queue; why it was taken out of it is known now.
  if (newest.phase !== "ended" && newest.phase !== "unknown")
    return { row: giveUp(seen, end), ended: before, isSuspect: false };
  const outcome = seen.outcome ?? { code: end.code, message: end.message };
  const over: AllocationRow = {
    ...seen,
    state: "ended",
    ended_at: newest.endedAt ?? observed.now,
    outcome: byUs(seen, outcome),
  };
  const told = { row: over, restart: newest.restart, end: over.outcome as EndedIncarnation["end"] };
  return { row: over, ended: [...before, told], isSuspect: end.nodeSuspect };
}

const REQUEUED = { code: "REQUEUED", message: "it was put back into the queue" } as const;

/** One that was canceled because somebody here wanted that has ended as it should. */
function byUs(row: AllocationRow, outcome: NonNullable<AllocationRow["outcome"]>): AllocationRow["outcome"] {
  return outcome.code === "CANCELED" && row.cancel !== null ? { ...outcome, code: "DRAINED" } : outcome;
}

/** The answer of its submission was lost, or it never was submitted. It is not submitted again: another gets a key of its own. */
function findSubmitted(row: AllocationRow, { found, submitting, now }: Observed): AllocationRow {
  if (submitting.has(row.key)) return row;
  const id = found?.get(row.key);
  if (id !== undefined) return { ...row, id, state: "pending", submitted_at: row.submitted_at ?? now };
  if (found === null || now - row.created_at < LOST_SUBMIT_MS) return row;
  const message = "the server stopped before it was submitted";
  return { ...row, state: "ended", ended_at: now, outcome: { code: "NEVER_SUBMITTED", message } };
}

function withStatus(row: AllocationRow, status: AllocationStatus, observed: Observed): AllocationRow {
  const { now, hadPilot } = observed;
  // While nobody answers, nothing is known of how long it has been gone.
  const isGone = status.phase === "unknown" && status.source === "none";
  const isNew = status.restart !== row.restart;
  const pilotAt = row.pilot_at ?? (hadPilot(row, status.restart) ? now : null);
  return {
    ...row,
    restart: status.restart,
    state: status.phase === "ended" ? row.state : status.phase,
    nodes: status.nodes.length > 0 || isNew ? status.nodes : row.nodes,
    started_at: status.startedAt ?? (isNew ? null : row.started_at),
    pilot_at: pilotAt,
    unknown_since: isGone ? (row.unknown_since ?? now) : null,
  };
}

/** It runs, but its worker does not come. */
function withGivenUp(row: AllocationRow, { now }: Observed): AllocationRow {
  const isLate =
    row.state === "running" &&
    row.pilot_at === null &&
    row.started_at !== null &&
    now - row.started_at >= NO_PILOT_MS;
  if (!isLate) return row;
  const message = `allocation ${row.id}: no worker came within ${NO_PILOT_MS / 60_000} min of its start`;
  return giveUp(row, { code: "PILOT_FAILED", message });
}

function giveUp(
  row: AllocationRow,
  { code, message }: Pick<AllocationEnd, "code" | "message">,
): AllocationRow {
  return row.outcome !== null ? row : { ...row, cancel: "now", outcome: { code, message } };
}

/** What an end means for the next allocations. */
function afterEnd(cluster: ClusterRow, row: AllocationRow, isSuspect: boolean, now: number): ClusterRow {
  const { code = "", message = "" } = row.outcome ?? {};
  const excluded = isSuspect
    ? exclude(cluster, row.nodes, `allocation ${row.id} ended there: ${code}`, now)
    : cluster.excluded;
  const next = { ...cluster, excluded };
  if (code === "CANCELED")
    return {
      ...next,
      suspended: { kind: "canceled", message: `somebody else canceled an allocation: ${message}`, at: now },
    };
  if (row.pilot_at !== null || NOBODYS_FAULT.has(code)) return next;
  return afterFailure(next, message, now);
}

/** One more that ended without a worker. */
function afterFailure(cluster: ClusterRow, message: string, now: number): ClusterRow {
  const failures = cluster.failures + 1;
  const tooMany = failures >= MAX_FAILURES;
  const why = `${failures} allocations in a row ended without a worker; the last one: ${message}`;
  return {
    ...cluster,
    failures,
    retry_at: now + backoffMs(failures),
    suspended: tooMany
      ? (cluster.suspended ?? { kind: "no_pilot", message: why, at: now })
      : cluster.suspended,
  };
}

/** These nodes too, for a while; those whose time is over are forgotten. */
function exclude(
  { excluded }: ClusterRow,
  nodes: readonly string[],
  reason: string,
  now: number,
): ClusterRow["excluded"] {
  const kept = excluded.filter(({ node, until }) => until > now && !nodes.includes(node));
  return [...kept, ...nodes.map((node) => ({ node, until: now + EXCLUDED_MS, reason }))];
}

const WHY = `${MAX_FAILURES} allocations in a row ended with nothing to do although jobs were waiting; their workers lack something that the jobs need, such as a secret or a program`;

/**
 * Finds out that workers come and can do nothing for the jobs that they were started for. Each would leave after its idle
 * time and be followed by another, for ever.
 */
export class UselessPilots {
  /** Keys of allocations that ended like that since an attempt last began on the cluster. */
  private readonly keys = new Set<string>();
  private readonly beganAt: number;
  private starts = 0;

  constructor(private readonly ports: SupervisorPorts) {
    this.beganAt = ports.clock.now();
  }

  /**
   * Returns the cluster, suspended if another allocation would be just as useless. May be called twice with the same
   * rows.
   */
  judge(cluster: ClusterRow, rows: readonly AllocationRow[], demands: readonly Demand[]): ClusterRow {
    const starts = this.ports.starts();
    if (starts !== this.starts || cluster.suspended !== null) this.keys.clear();
    this.starts = starts;
    if (cluster.suspended !== null || demands.length === 0) return cluster;
    for (const row of rows) if (isWaitedFor(row, demands) && this.wasUseless(row)) this.keys.add(row.key);
    if (this.keys.size < MAX_FAILURES) return cluster;
    return { ...cluster, suspended: { kind: "no_work", message: WHY, at: this.ports.clock.now() } };
  }

  /** Whether its worker did nothing. Unknown for a worker that connected to an earlier process. */
  private wasUseless({ state, outcome, cancel, pilot_at }: AllocationRow): boolean {
    const leftByItself = state === "ended" && outcome?.code === "DRAINED" && cancel === null;
    return leftByItself && pilot_at !== null && pilot_at >= this.beganAt;
  }
}

/** A job waits that this allocation could have taken: its own job, or one of its lane that needs no allocation of its own. */
function isWaitedFor({ job_id, tags, cluster }: AllocationRow, demands: readonly Demand[]): boolean {
  if (job_id !== null) return demands.some(({ jobId }) => jobId === job_id);
  const rowLane = laneAmong(tags, cluster);
  return demands.some(({ needs, lane }) => needs.nodes === 1 && (lane?.tag ?? null) === rowLane);
}
