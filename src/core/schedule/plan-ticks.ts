import { sha256Hex } from "../text/sha256.js";
import { lastTicks, nextTick } from "./ticks.js";
import { inCause, type ScheduleDefinition } from "./triggers.js";

/** A tick that fires later than this was missed. */
export const LATE_MS = 60_000;
export const MAX_CAUGHT_UP = 100;
/** More missed ticks than this are not counted: of a cron of seconds a year has thirty million. */
export const MAX_COUNTED = 1_000;
const HEX_DIGITS = 12;

/** The state of a workflow's schedule. All times are on the store's clock. */
export interface ScheduleState {
  readonly schedule: ScheduleDefinition;
  /** Ticks up to here have been judged. */
  readonly judged_to: number;
  /** Ticks that are to fire and have no run on record yet, oldest first. */
  readonly firing: readonly number[];
  readonly paused: { readonly by: string; readonly at: number; readonly reason: string } | null;
  /** The last run that it has made, or somebody by hand, who has no tick but a time. */
  readonly last: { readonly tick: number; readonly run_id: number } | null;
  readonly skipped: TickCount;
  readonly missed: TickCount;
  /** The last one whose run was refused; null once a later run was made. */
  readonly refused: {
    readonly tick: number;
    readonly code: string;
    readonly message: string;
    readonly at: number;
  } | null;
}

export interface TickCount {
  readonly count: number;
  /** The newest of them. */
  readonly last: number | null;
}

const NONE: TickCount = { count: 0, last: null };

/** A schedule from now on: what came before it was published is nobody's affair. */
export function newScheduleState(schedule: ScheduleDefinition, now: number): ScheduleState {
  const nothing = { firing: [], paused: null, last: null, refused: null };
  return { schedule, judged_to: now, ...nothing, skipped: NONE, missed: NONE };
}

/** The schedule after it was published again. A pause stays; changed times take effect now. */
export function replaceSchedule(
  state: ScheduleState,
  schedule: ScheduleDefinition,
  now: number,
): ScheduleState {
  const { cron, timezone } = state.schedule;
  const isSameTime = cron === schedule.cron && timezone === schedule.timezone;
  return { ...state, schedule, ...(isSameTime ? {} : { judged_to: now, firing: [] }) };
}

/** Ticks of the time in which it was paused never fire. */
export function setPaused(state: ScheduleState, paused: ScheduleState["paused"], now: number): ScheduleState {
  return { ...state, paused, judged_to: Math.max(now, state.judged_to), firing: [] };
}

/** When a tick fires: always the same for the same tick, and before the next one. */
export function firesAt(
  { jitterMs, id, ...times }: ScheduleDefinition,
  workflow: string,
  tick: number,
): number {
  if (jitterMs === 0) return tick;
  const room = Math.min(jitterMs, (nextTick(times, tick) ?? Number.POSITIVE_INFINITY) - tick);
  const digits = sha256Hex(JSON.stringify([workflow, id, tick])).slice(0, HEX_DIGITS);
  return tick + Math.floor((Number.parseInt(digits, 16) / 16 ** HEX_DIGITS) * room);
}

/** The next tick that is not judged yet. */
export function nextOf({ schedule, judged_to }: ScheduleState): number | null {
  return nextTick(schedule, judged_to);
}

/** Whether there is something to judge or to fire. */
export function isDue(state: ScheduleState, workflow: string, now: number): boolean {
  if (state.paused !== null) return false;
  if (state.firing.length > 0 || wasSetBack(state, now)) return true;
  const next = nextOf(state);
  return next !== null && next <= now && firesAt(state.schedule, workflow, next) <= now;
}

/** Without this a clock that was a year ahead for a minute would stop a schedule for a year. */
function wasSetBack({ judged_to }: ScheduleState, now: number): boolean {
  return judged_to - now > LATE_MS;
}

/**
 * Judges every tick that is due: which are to fire, which are skipped, which were missed. What was to fire and has no run
 * yet is judged again with them, as its server may have died long ago. `isBusy`: a run of this schedule is not over.
 */
export function judgeTicks(
  state: ScheduleState,
  { workflow, now, isBusy }: { readonly workflow: string; readonly now: number; readonly isBusy: boolean },
): ScheduleState {
  if (!isDue(state, workflow, now)) return state;
  const { schedule } = state;
  // What has fired in a future that comes once more has its run already.
  const judged_to = wasSetBack(state, now) ? now : state.judged_to;
  const firing = state.firing.filter((tick) => tick <= judged_to);
  const fireTime = (tick: number): number => firesAt(schedule, workflow, tick);
  const due = lastTicks(schedule, { after: judged_to, upTo: now, limit: MAX_COUNTED }).filter(
    (tick) => fireTime(tick) <= now,
  );
  const isLate = (tick: number): boolean => now - fireTime(tick) > LATE_MS;
  const open = [...firing, ...due];
  const late = open.filter(isLate);
  const caughtUp = late.slice(late.length - numberCaughtUp(schedule, late.length));
  const wanted = [...caughtUp, ...open.slice(late.length)];
  // One that fires already stays, as its run may have been made a moment ago; of others the newest counts.
  const one = firing.find((tick) => !isLate(tick)) ?? wanted.at(-1);
  const fires = schedule.overlap === "allow" ? wanted : wanted.filter((tick) => tick === one && !isBusy);
  return {
    ...state,
    judged_to: due.at(-1) ?? judged_to,
    firing: fires,
    missed: counted(state.missed, late.slice(0, late.length - caughtUp.length)),
    skipped: counted(
      state.skipped,
      wanted.filter((tick) => !fires.includes(tick)),
    ),
  };
}

function numberCaughtUp({ catchUp }: ScheduleDefinition, late: number): number {
  return Math.min(late, { none: 0, last: 1, all: MAX_CAUGHT_UP }[catchUp]);
}

function counted({ count, last }: TickCount, ticks: readonly number[]): TickCount {
  return { count: count + ticks.length, last: ticks.at(-1) ?? last };
}

/** What became of ticks that were to fire. */
export interface FiredTick {
  readonly tick: number;
  /** Its run, or why it has none; null: the schedule is gone. */
  readonly outcome: { readonly run_id: number } | { readonly code: string; readonly message: string } | null;
}

export function settleTicks(state: ScheduleState, fired: readonly FiredTick[], now: number): ScheduleState {
  let { last, refused } = state;
  for (const { tick, outcome } of fired) {
    if (outcome === null) continue;
    if ("run_id" in outcome) {
      last = { tick, run_id: outcome.run_id };
      if (refused !== null && refused.tick < tick) refused = null;
    } else refused = { tick, ...outcome, at: now };
  }
  const settled = new Set(fired.map(({ tick }) => tick));
  return { ...state, last, refused, firing: state.firing.filter((tick) => !settled.has(tick)) };
}

/** Somebody has started a run of it: what was refused before could be created now. */
export function settleByHand(state: ScheduleState, run_id: number, now: number): ScheduleState {
  // A repeated request with a key gets the run that it already has.
  if (state.last !== null && state.last.run_id >= run_id) return state;
  return { ...state, last: { tick: now, run_id }, refused: null };
}

/** What the runs of a schedule have in common in their cause. */
export function causePrefix(workflow: string, id: string): string {
  return `schedule/${inCause(workflow)}/${id}/`;
}

export function causeOfTick(workflow: string, id: string, tick: number): string {
  return `${causePrefix(workflow, id)}${new Date(tick).toISOString().replace(".000Z", "Z")}`;
}
