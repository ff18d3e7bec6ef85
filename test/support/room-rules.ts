import { posix } from "node:path";
import { productFiles, readImports, resolveImport, type SourceText } from "./source-imports.js";

/** The files of a folder that lie in none of its rooms. */
const TOP = "";

/** Lowest first. A room may import from every row above its own here, and from itself; rooms of one row do not meet. */
export const ROOMS: { readonly [folder: string]: readonly (readonly string[])[] } = {
  core: [
    ["text"],
    ["redaction", "errors", "book", "campaign", "tally", "schedule", "groups"],
    ["model"],
    ["failure", "breakers", "workers", "notify"],
    ["evolve"],
    ["decide", "snapshot"],
  ],
  definition: [["read"], ["fields"], ["batch", "normalise"], ["check"], ["lint", "draw", "edit"], [TOP]],
  report: [["lookup", "resources", "timeline"], ["words"], [TOP], ["formats", "problems", "notices"]],
};

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

/** The rooms of a folder import one way, as the folders do. */
export function findWrongRooms(files: readonly SourceText[]): string[] {
  const violations: string[] = [];
  for (const file of productFiles(files)) {
    for (const { specifier } of readImports(file)) {
      const target = resolveImport(file.path, specifier);
      const reason = target === null ? null : refuseRoom(file.path, target);
      if (reason !== null) violations.push(`${file.path} imports ${target}: ${reason}`);
    }
  }
  return violations;
}

function refuseRoom(from: string, to: string): string | null {
  const source = placeOf(from);
  const target = placeOf(to);
  const rooms = ROOMS[source.folder];
  if (rooms === undefined || source.folder !== target.folder || source.room === target.room) return null;
  const levels = [source, target].map(({ room }) => rooms.findIndex((row) => row.includes(room)));
  const unplaced = [source, target].find((_, index) => levels[index] === -1);
  if (unplaced !== undefined)
    return `src/${posix.join(unplaced.folder, unplaced.room)} has no place among the rooms`;
  const [sourceLevel, targetLevel] = levels as [number, number];
  if (targetLevel < sourceLevel) return null;
  return targetLevel > sourceLevel
    ? `${source.room} is below ${target.room === TOP ? "the files at the top" : target.room}`
    : `${source.room} and ${target.room} are siblings`;
}

/** `src/core/decide/ladder/goto.ts` lies in the room decide of the folder core: inner rooms belong to their room. */
export function placeOf(path: string): { readonly folder: string; readonly room: string } {
  const [, folder = TOP, room = TOP] = posix.dirname(path).split("/");
  return { folder, room };
}
