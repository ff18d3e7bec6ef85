import { join } from "node:path";
import { messageOf } from "../../core/text/message-of.js";
import type { ClusterSettings } from "../../file/settings/settings.js";
import { type AllocationRow, type ClusterRow, changeAllocation } from "../../store/cluster-rows.js";
import {
  type AllocationProvider,
  isRefusal,
  type Plan,
  type Refusal,
  type Shape,
  type Target,
} from "../allocations/provider.js";
import { laneAmong } from "../allocations/requests/lane.js";
import { type AllocationPlace, specOf } from "../allocations/scale/allocation-spec.js";
import type { PlannedAllocation, RefusedShape } from "../allocations/scale/plan-allocations.js";
import type { SupervisorPorts } from "./supervisor-ports.js";

/** Something that will pass: the scheduler is asked again after as long. */
const BUSY_MS = 30_000;
/** What was too big is tried again after as long: a site may have raised its limits. */
const TOO_BIG_MS = 60 * 60_000;
const MAX_TOO_BIG = 1_000;
/** It is revoked when the allocation ends. This is for those of a server that never comes back. */
const MAX_QUEUED_MS = 30 * 24 * 60 * 60_000;

/** What a file asks for and the batch system refuses is tried again after as long: somebody may have allowed it. */
const REFUSED_LANE_MS = 10 * 60_000;

/** A row with its script and the text of its token, or why there can be none. */
export type Draft =
  | { readonly row: AllocationRow; readonly plan: Plan; readonly token: string }
  | { readonly refusal: Refusal };

/** From a planned allocation to a submitted one: token, row, files, submission, id, in this order. */
export class Submitter {
  private refusedShapes: readonly (RefusedShape & { readonly at: number })[] = [];
  private readonly lanes = new Map<string, { readonly message: string; readonly at: number }>();

  constructor(
    private readonly ports: SupervisorPorts,
    private readonly submitting: Set<string>,
  ) {}

  /** What the scheduler has refused of late as more than it allows: the jobs that need it, not the cluster, are in trouble. */
  get tooBig(): readonly RefusedShape[] {
    const { clock } = this.ports;
    this.refusedShapes = this.refusedShapes.filter(({ at }) => clock.elapsed() - at < TOO_BIG_MS);
    return this.refusedShapes;
  }

  /** Somebody wants it to be tried again. */
  forgetRefusals(): void {
    this.refusedShapes = [];
    this.lanes.clear();
  }

  /** A refusal of one is a refusal of the site, so that the others are not tried; but one may be too big. */
  async draft(
    planned: readonly PlannedAllocation[],
    { excluded }: ClusterRow,
    targets: readonly Target[],
    provider: Pick<AllocationProvider, "plan">,
  ): Promise<Draft[]> {
    const { settings, store, clock, owner, newKey, newToken, hashOf, server, nodesInQuarantine } = this.ports;
    const now = clock.now();
    const failed = excluded.flatMap(({ node, until }) => (until > now ? [node] : []));
    const nodes = [...new Set([...failed, ...nodesInQuarantine()])];
    const drafts: Draft[] = [];
    for (const each of planned) {
      const key = newKey();
      const folder = join(this.ports.folder, key);
      const own = each.settings ?? settings;
      const plan = provider.plan(specOf(own, each, { key, folder, server: server(), nodes }), targets);
      const lane = laneAmong(own.tags, settings.name);
      if (isRefusal(plan) && this.isOfJobs(each.shape, lane, plan)) continue;
      if (isRefusal(plan)) return [...drafts, { refusal: plan }];
      const token = newToken();
      const { id: token_id } = await store.putToken({
        name: `allocation ${key}`,
        role: "worker",
        hash: hashOf(token),
        at: now,
        expiresAt: now + each.shape.runtimeMs + MAX_QUEUED_MS,
      });
      drafts.push({
        row: newRow(own, each, { key, folder, server: server(), owner, token_id, now }),
        plan,
        token,
      });
    }
    return drafts;
  }

  /** Somebody else changed the cluster meanwhile: nobody will ever use these. */
  async drop(drafts: readonly Draft[]): Promise<void> {
    const { store, clock } = this.ports;
    for (const draft of drafts)
      if ("row" in draft && draft.row.token_id !== null)
        await store.revokeToken(draft.row.token_id, clock.now());
  }

  /** Its row is on record, so that whatever happens from here on, it is found again by its key or given up. */
  async submit(draft: Draft, signal: AbortSignal): Promise<void> {
    if (!("row" in draft)) return;
    const { row, plan, token } = draft;
    const { files, settings, tell } = this.ports;
    this.submitting.add(row.key);
    try {
      files.write(row.folder, token, plan.script);
      const answer = await this.ask(plan, signal);
      if (isRefusal(answer) && answer.answerLost) this.tellLost(answer.message);
      else if (isRefusal(answer)) await this.refused(row, answer);
      else {
        await this.accepted(row, answer.id);
        const { nodes, cpus } = row.shape;
        const size = `${nodes === 1 ? "" : `${nodes} nodes with `}${cpus} ${cpus === 1 ? "cpu" : "cpus"}`;
        tell(`cluster ${settings.name}: submitted allocation ${answer.id} (${size}): ${row.reason}`);
      }
    } catch (error) {
      this.tellLost(messageOf(error));
    } finally {
      this.submitting.delete(row.key);
    }
  }

  /** Nodes that failed of late are left out where others can take it, and asked for again where none can. */
  private async ask(plan: Plan, signal: AbortSignal): ReturnType<AllocationProvider["submit"]> {
    const { provider, settings, nodesInQuarantine, tell } = this.ports;
    const answer = await provider.submit(plan, signal);
    const [leftOut, quarantined] = [plan.spec.excludeNodes, nodesInQuarantine()];
    const excludeNodes = leftOut.filter((node) => quarantined.includes(node));
    if (!isRefusal(answer) || answer.refused !== "TOO_BIG" || excludeNodes.length === leftOut.length)
      return answer;
    const withAll = provider.plan({ ...plan.spec, excludeNodes }, []);
    if (isRefusal(withAll)) return answer;
    const failed = leftOut.filter((node) => !quarantined.includes(node)).join(", ");
    tell(`cluster ${settings.name}: nothing can be had without the nodes that failed of late: ${failed}`);
    return provider.submit(withAll, signal);
  }

  /** Nobody knows whether it was submitted. The next look finds it by its key, or gives it up. */
  private tellLost(why: string): void {
    this.ports.tell(`cluster ${this.ports.settings.name}: the answer to a submission was lost: ${why}`);
  }

  /** What a refusal means for the next allocations. */
  afterRefusal(cluster: ClusterRow, { refused, message, retryable }: Refusal): ClusterRow {
    const { clock, settings } = this.ports;
    const now = clock.now();
    if (retryable) return { ...cluster, retry_at: now + BUSY_MS };
    const why = `${settings.type} refuses allocations (${refused}): ${message}`;
    return { ...cluster, suspended: { kind: "refused", message: why, at: now } };
  }

  private async accepted({ key }: AllocationRow, id: string): Promise<void> {
    const { store, clock, settings } = this.ports;
    const submitted_at = clock.now();
    await changeAllocation(store, settings.name, key, (row, cluster) => ({
      cluster,
      row: { ...row, id, state: "pending", submitted_at },
    }));
  }

  /** What jobs or their file ask for is wrong, not the cluster: it is noted, and the others go on. */
  private isOfJobs(shape: Shape, lane: string | null, { refused, retryable, message }: Refusal): boolean {
    const at = this.ports.clock.elapsed();
    if (refused === "TOO_BIG")
      this.refusedShapes = [...this.refusedShapes, { shape, lane, message, at }].slice(-MAX_TOO_BIG);
    else if (lane === null || retryable) return false;
    else this.lanes.set(lane, { message, at });
    return true;
  }

  /** Lanes of which an allocation was refused of late, with the words of the batch system. */
  refusedLanes(): ReadonlyMap<string, string> {
    const { clock } = this.ports;
    for (const [lane, { at }] of this.lanes)
      if (clock.elapsed() - at >= REFUSED_LANE_MS) this.lanes.delete(lane);
    return new Map([...this.lanes].map(([lane, { message }]) => [lane, message]));
  }

  private async refused(row: AllocationRow, refusal: Refusal): Promise<void> {
    const { key, folder, token_id, tags, shape } = row;
    const { store, clock, settings, files, tell } = this.ports;
    const isOfJobs = this.isOfJobs(shape, laneAmong(tags, settings.name), refusal);
    tell(`cluster ${settings.name}: ${settings.type} refused an allocation: ${refusal.message}`);
    files.remove(folder);
    if (token_id !== null) await store.revokeToken(token_id, clock.now());
    const outcome = { code: "REFUSED", message: refusal.message };
    await changeAllocation(store, settings.name, key, (row, cluster) => ({
      cluster: isOfJobs ? cluster : this.afterRefusal(cluster, refusal),
      row: { ...row, state: "ended", ended_at: clock.now(), outcome },
    }));
  }
}

function newRow(
  settings: ClusterSettings,
  { shape, jobId, reason }: PlannedAllocation,
  made: AllocationPlace & Pick<AllocationRow, "owner" | "token_id"> & { readonly now: number },
): AllocationRow {
  const { key, folder, server, owner, token_id, now } = made;
  return {
    key,
    cluster: settings.name,
    id: null,
    restart: 0,
    state: "planned",
    shape,
    tags: settings.tags,
    job_id: jobId,
    reason,
    server,
    owner,
    token_id,
    folder,
    nodes: [],
    cancel: null,
    created_at: now,
    submitted_at: null,
    started_at: null,
    pilot_at: null,
    unknown_since: null,
    ended_at: null,
    outcome: null,
  };
}
