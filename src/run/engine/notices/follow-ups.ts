import type { Breaker } from "../../../core/breakers/breaker.js";
import { isOneOfSeveral, type StepPlace, writtenStep } from "../../../core/model/written-step.js";
import { type Episode, isForgotten, isReminderDue, NOTICES_KEPT_MS } from "../../../core/notices/episode.js";
import { type Notice, placeOfNotice } from "../../../core/notices/notice.js";
import type { WorkerHealth } from "../../../core/quarantine/quarantine.js";
import { sha256Hex } from "../../../core/text/sha256.js";
import type { UnansweredJob } from "../../../store/unanswered.js";
import { BREAKERS } from "../breakers/breaker-rows.js";
import { WORKERS } from "../health/health-rows.js";
import { EPISODES, type NoticePorts, readEpisode } from "./notice-ports.js";

/** Limit for waiting jobs. Nobody could decide more anyway. */
const MAX_UNANSWERED = 10_000;
const ID_CHARS = 32;

interface OpenEpisode {
  readonly name: string;
  readonly revision: number;
  readonly episode: Episode;
}

/**
 * Finds what follows from episodes without new events: somebody is still needed, something works again, or an episode
 * can be forgotten. Messages become ordinary notices, with ids that are the same on every server.
 */
export async function followUp(ports: NoticePorts): Promise<void> {
  const { store, clock, channels, ownRuns } = ports;
  const { rows, at } = await store.readShared(EPISODES, null, clock.now());
  const found = rows.flatMap((row): OpenEpisode[] => {
    const episode = readEpisode(row);
    const isOurs = episode !== null && channels.includes(episode.channel);
    return isOurs ? [{ name: row.name, revision: row.revision, episode }] : [];
  });
  const own = ownRuns?.() ?? null;
  if (own === null) await forget(ports, found, at);
  const open = found.filter(({ episode }) => episode.count > 0 && !isForgotten(episode, at));
  const ours = open.filter(
    ({ episode }) => own === null || own.workflows.includes(episode.last.workflow ?? ""),
  );
  if (ours.length === 0) return;
  const waiting = await findWaiting(ports);
  const notices: Notice[] = [];
  for (const { name, episode } of ours) {
    const waits = waitsFor(episode, waiting);
    if (waits && own === null && isReminderDue(episode, at))
      notices.push(reminderOf(name, episode, clock.now()));
    if (waits) continue;
    const begunAt = await findRecovery(ports, episode);
    if (begunAt !== null)
      notices.push(recoveryOf(name, episode, { now: clock.now(), begunAt, runId: own?.runIds[0] ?? null }));
  }
  if (notices.length > 0) await store.writeShared([], { now: clock.now(), notices });
}

export async function pruneNotices({ store, clock }: NoticePorts): Promise<void> {
  await store.pruneNotices(clock.now() - NOTICES_KEPT_MS);
}

async function forget({ store }: NoticePorts, found: readonly OpenEpisode[], at: number): Promise<void> {
  const forgotten = found.filter(({ episode }) => isForgotten(episode, at));
  if (forgotten.length > 0)
    await store.dropShared(forgotten.map(({ name, revision }) => ({ kind: EPISODES, name, revision })));
}

interface Waiting {
  /**
   * Failures by step and signature. For several jobs of one step, which share one message whatever their failures, by
   * step only.
   */
  readonly failures: ReadonlySet<string>;
  readonly jobs: ReadonlySet<number>;
}

/** Jobs that wait for a person, except those that failed with their run. */
async function findWaiting({ store }: NoticePorts): Promise<Waiting> {
  const jobs = (await store.listUnanswered(MAX_UNANSWERED)).filter(({ status }) => status !== "failed");
  return {
    failures: new Set(jobs.filter(({ status }) => status === "held").map((job) => failureMark(job))),
    jobs: new Set(jobs.map(({ id }) => id)),
  };
}

function failureMark(job: StepPlace & Pick<UnansweredJob, "workflow" | "signature">): string {
  return JSON.stringify([job.workflow, writtenStep(job), isOneOfSeveral(job) ? null : job.signature]);
}

function waitsFor({ last }: Episode, { failures, jobs }: Waiting): boolean {
  const { workflow, signature, facts } = last;
  const place = placeOfNotice(last);
  if (workflow !== null && place !== null && signature !== null)
    return failures.has(failureMark({ ...place, workflow, signature }));
  return facts.job_id !== undefined && jobs.has(facts.job_id);
}

/** The start of what works again, if it is at least this late. Null if it does not work, or nobody can tell. */
async function findRecovery(
  { store, clock }: NoticePorts,
  { last, last_at }: Episode,
): Promise<number | null> {
  const { workflow, signature, kind, facts } = last;
  const place = placeOfNotice(last);
  if (workflow !== null && place !== null && signature !== null)
    return store.findCompletion({ workflow, step: writtenStep(place), since: last_at });
  const of = kind === "breaker" ? BREAKERS : kind === "quarantined" ? WORKERS : null;
  if (of === null || facts.name === undefined) return null;
  const { rows } = await store.readShared(of, [facts.name], clock.now());
  const state = rows[0] === undefined ? {} : (JSON.parse(rows[0].data) as Partial<Breaker & WorkerHealth>);
  const isOver = (of === BREAKERS ? state.opened : state.quarantine) == null;
  return isOver ? Number.MAX_SAFE_INTEGER : null;
}

function reminderOf(name: string, { last, told_at }: Episode, now: number): Notice {
  const facts = { ...last.facts, told_at: told_at! };
  return { ...anew(last, `${name}\n${told_at}`, now), facts, condition: null };
}

function recoveryOf(
  name: string,
  { last, last_at, first_at }: Episode,
  { now, begunAt, runId }: { readonly now: number; readonly begunAt: number; readonly runId: number | null },
): Notice {
  const { recovery } = last.facts;
  return {
    ...anew(last, `${name}\n${first_at}\n${last_at}\nrecovered`, now),
    kind: "recovered",
    run_id: runId ?? last.run_id,
    condition: recovery?.when ?? null,
    facts: { ...last.facts, begun_at: begunAt, was: last.kind },
  };
}

function anew(last: Notice, mark: string, now: number): Notice {
  const id = `msg_${sha256Hex(mark).slice(0, ID_CHARS)}`;
  return {
    ...last,
    id,
    at: now,
    state: "new",
    told: null,
    tries: 0,
    error: null,
    next_at: 0,
    settled_at: null,
  };
}
