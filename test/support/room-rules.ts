import { posix } from "node:path";
import { type RoomTable, type RoomTables, readRoomTables, TOP } from "./room-tables.js";
import { productFiles, readImports, resolveImport, type SourceText } from "./source-imports.js";

const TABLES = readRoomTables();

/** Circles that are known and not yet ended, by all of their files. */
export const KNOWN_CYCLES: readonly { readonly files: readonly string[]; readonly reason: string }[] = [];

/**
 * Files that need each other can be read, tested and loaded only together. Types do not count, nor does what is loaded
 * only when it is called for.
 */
export function findCycles(files: readonly SourceText[]): string[] {
  const known = new Set(KNOWN_CYCLES.map((cycle) => [...cycle.files].sort().join(", ")));
  return groupsThatMeet(valueImports(files))
    .map((group) => group.sort().join(", "))
    .filter((group) => !known.has(group))
    .sort()
    .map((group) => `${group} import each other`);
}

function valueImports(files: readonly SourceText[]): Map<string, string[]> {
  const product = productFiles(files);
  const paths = new Set(product.map(({ path }) => path));
  return new Map(
    product.map((file) => [
      file.path,
      readImports(file)
        .filter(({ typesOnly, lazy }) => !typesOnly && !lazy)
        .flatMap(({ specifier }) => resolveImport(file.path, specifier) ?? [])
        .filter((target) => paths.has(target)),
    ]),
  );
}

/** Tarjan's strongly connected components, those of more than one node. */
function groupsThatMeet(edges: ReadonlyMap<string, readonly string[]>): string[][] {
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];
  const groups: string[][] = [];
  const visit = (node: string): void => {
    order.set(node, order.size);
    lowest.set(node, order.get(node)!);
    open.push(node);
    for (const next of edges.get(node) ?? []) {
      if (!order.has(next)) visit(next);
      if (open.includes(next)) lowest.set(node, Math.min(lowest.get(node)!, lowest.get(next)!));
    }
    if (lowest.get(node) !== order.get(node)) return;
    const group = open.splice(open.indexOf(node));
    if (group.length > 1) groups.push(group);
  };
  for (const node of edges.keys()) if (!order.has(node)) visit(node);
  return groups;
}

/** Files of src/ import what the table in their room's README allows, and inside a room downwards only. */
export function findWrongImports(files: readonly SourceText[], tables: RoomTables = TABLES): string[] {
  const violations: string[] = [];
  for (const file of productFiles(files)) {
    for (const { specifier } of readImports(file)) {
      const target = resolveImport(file.path, specifier);
      if (target === null || !target.startsWith("src/")) continue;
      const reason = refuseImport(tables, file.path, target);
      if (reason !== null) violations.push(`${file.path} imports ${target}: ${reason}`);
    }
  }
  return violations;
}

function refuseImport(tables: RoomTables, from: string, to: string): string | null {
  const source = placeOf(from);
  const target = placeOf(to);
  if (source.folder === TOP) return target.folder === "cli" ? "only src/cli may know the command line" : null;
  if (target.folder === TOP) return "nothing inside src imports its entry point";
  const table = tables.get(source.folder);
  const unknown = [source, target].find(({ folder }) => !tables.has(folder));
  if (table === undefined || unknown !== undefined)
    return `src/${unknown?.folder} has no README with a table`;
  if (source.folder === target.folder) return refuseInside(table, source, target);
  return table.mayImport.includes(target.folder)
    ? null
    : `the table of src/${source.folder} does not name ${target.folder}`;
}

function refuseInside({ inside }: RoomTable, source: Place, target: Place): string | null {
  if (inside.length === 0 || source.room === target.room) return null;
  const levels = [source, target].map(({ room }) => inside.findIndex((row) => row.includes(room)));
  const unplaced = [source, target].find((_, index) => levels[index] === -1);
  if (unplaced !== undefined)
    return `src/${posix.join(unplaced.folder, unplaced.room)} has no place among the rooms`;
  const [sourceLevel, targetLevel] = levels as [number, number];
  if (targetLevel < sourceLevel) return null;
  return targetLevel > sourceLevel
    ? `${source.room} is below ${target.room === TOP ? "the files at the top" : target.room}`
    : `${source.room} and ${target.room} are siblings`;
}

/** Where a table names a room whose own table leads back to it, neither is below the other. */
export function findUpwardTables(tables: RoomTables = TABLES): string[] {
  const leadsTo = (from: string, to: string): boolean => {
    const seen = new Set([from]);
    for (const at of seen) for (const next of tables.get(at)?.mayImport ?? []) seen.add(next);
    return seen.has(to);
  };
  return [...tables].flatMap(([room, { mayImport }]) =>
    mayImport
      .filter((lower) => !tables.has(lower) || leadsTo(lower, room))
      .map((lower) => `the table of src/${room} names ${lower}, which is not below it`),
  );
}

interface Place {
  readonly folder: string;
  readonly room: string;
}

/** `src/core/decide/ladder/goto.ts` lies in the room decide of the folder core: inner rooms belong to their room. */
export function placeOf(path: string): Place {
  const [, folder = TOP, room = TOP] = posix.dirname(path).split("/");
  return { folder, room };
}
