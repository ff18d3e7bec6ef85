import { DEFAULT_PRIORITY } from "../../core/groups/concurrency.js";
import type { RunRow } from "../../core/model/rows.js";
import { isFree } from "../lease-rules.js";
import { hasRoomFor, holdersIn, nextInGroup, refuseWithoutPlace, seeksPlace } from "../place-rules.js";
import type { GroupMember, PlaceStore } from "../places.js";
import type { Append, LeaseOwner } from "../store.js";
import { type MemoryTables, type OpenTables, parseRow } from "./memory-tables.js";

export function createPlaceVerbs(open: OpenTables): PlaceStore {
  return {
    readGroups: async (groups, now) => structuredClone(readGroups(open(), groups, now)),
    async takePlace({ runId, fence, now, deadOwners }) {
      const tables = open();
      const own = membersOf(tables, now).find((member) => member.runId === runId);
      if (own === undefined || tables.leaseOf(runId)?.fence !== fence) return false;
      if (own.place !== null) return true;
      const { group } = own.concurrency;
      if (nextOf(tables, group, now, deadOwners)?.runId !== runId) return false;
      givePlace(tables, own);
      return true;
    },
  };
}

export function nextOf(
  tables: MemoryTables,
  group: string,
  now: number,
  deadOwners?: readonly LeaseOwner[],
): GroupMember | null {
  return nextInGroup(readGroups(tables, [group], now), lastPlace(tables, group), deadOwners);
}

export function givePlace(tables: MemoryTables, { runId, concurrency: { group } }: GroupMember): void {
  tables.places.set(runId, { group, place: lastPlace(tables, group) + 1 });
}

function lastPlace({ places }: MemoryTables, group: string): number {
  return Math.max(0, ...[...places.values()].map((each) => (each.group === group ? each.place : 0)));
}

export function readGroups(
  tables: MemoryTables,
  groups: readonly string[] | null,
  now: number,
): GroupMember[] {
  const members = membersOf(tables, now);
  const asked =
    groups ?? members.filter((each) => !hasBegun(tables, each)).map(({ concurrency }) => concurrency.group);
  return members.filter(({ concurrency }) => asked.includes(concurrency.group));
}

function hasBegun({ runs }: MemoryTables, { runId }: GroupMember): boolean {
  return parseRow<RunRow>(runs.get(runId)!.run).started_at !== null;
}

function membersOf(tables: MemoryTables, now: number): GroupMember[] {
  const members: GroupMember[] = [];
  for (const [runId, { run }] of tables.runs) {
    // Most runs of most stores are in no group.
    if (!run.includes('"concurrency":{')) continue;
    const row = parseRow<RunRow>(run);
    if (row.concurrency === null || row.finished_at !== null) continue;
    const { concurrency, priority, status, managed, workflow } = row;
    const lease = tables.leaseOf(runId);
    const place = tables.places.get(runId)?.place ?? null;
    const owner = lease === null || isFree(lease, now) ? null : lease.owner;
    members.push({
      ...{ runId, workflow, concurrency, status, managed, place, owner },
      priority: priority ?? DEFAULT_PRIORITY,
    });
  }
  return members.sort((a, b) => a.runId - b.runId);
}

/** The places that a commit takes, by run; throws where one is not free. */
export function placesFor(
  tables: MemoryTables,
  appends: readonly Append[],
): Map<number, { readonly group: string; readonly place: number }> {
  const given = new Map<number, { readonly group: string; readonly place: number }>();
  const taken: Pick<GroupMember, "runId" | "concurrency">[] = [];
  for (const append of appends) {
    const { runId, run } = append;
    if (given.has(runId) || !seeks(tables, append)) continue;
    const concurrency = run!.concurrency!;
    const { group, limit } = concurrency;
    const there = holdersIn(readGroups(tables, [group], 0)).filter((member) => member.runId !== runId);
    const more = taken.filter((each) => each.concurrency.group === group);
    const holders = [...there, ...more];
    if (!hasRoomFor(limit, holders))
      refuseWithoutPlace(
        group,
        holders.map((holder) => holder.runId),
      );
    given.set(runId, { group, place: lastPlace(tables, group) + more.length + 1 });
    taken.push({ runId, concurrency });
  }
  return given;
}

function seeks(tables: MemoryTables, { runId, run }: Append): boolean {
  if (run === null || run.concurrency === null) return false;
  const row = tables.runs.get(runId)?.run;
  const place = tables.places.get(runId)?.place ?? null;
  const before = row === undefined ? null : { place, finished_at: parseRow<RunRow>(row).finished_at };
  return seeksPlace(before, run);
}
