import { placeOf } from "./room-rules.js";
import { readRoomTables } from "./room-tables.js";
import { productFiles, readImports, resolveImport, type SourceText } from "./source-imports.js";

export const PICTURE_STARTS = "<!-- rooms: written by npm run docs:architecture -->";
export const PICTURE_ENDS = "<!-- end of rooms -->";

type Arrows = Map<string, Set<string>>;

/** The folders of src, and the rooms inside of those that have an order, with an arrow for what imports what. */
export function drawRooms(files: readonly SourceText[]): string {
  const folders: Arrows = new Map();
  const rooms = new Map<string, Arrows>(
    [...readRoomTables()].flatMap(([folder, { inside }]) => (inside.length > 0 ? [[folder, new Map()]] : [])),
  );
  for (const file of productFiles(files)) {
    const from = placeOf(file.path);
    for (const { specifier } of readImports(file)) {
      const target = resolveImport(file.path, specifier);
      if (from.folder === "" || target === null) continue;
      const to = placeOf(target);
      if (from.folder !== to.folder) connect(folders, from.folder, to.folder);
      else if (from.room !== to.room) connect(rooms.get(from.folder) ?? new Map(), from.room, to.room);
    }
  }
  const lines = [PICTURE_STARTS, "```mermaid", "flowchart TD"];
  for (const [folder, arrows] of rooms) {
    const named = new Map(
      [...arrows].map(([from, to]) => [
        idOf(folder, from),
        new Set([...to].map((room) => idOf(folder, room))),
      ]),
    );
    lines.push(`  subgraph ${folder}`, ...namesOf(folder, files), ...drawArrows(named, "    "), "  end");
  }
  return [...lines, ...drawArrows(folders, "  "), "```", PICTURE_ENDS].join("\n");
}

function connect(arrows: Arrows, from: string, to: string): void {
  const targets = arrows.get(from) ?? new Set();
  arrows.set(from, targets.add(to));
}

function idOf(folder: string, room: string): string {
  return `${folder}_${room === "" ? "top" : room}`;
}

function namesOf(folder: string, files: readonly SourceText[]): string[] {
  const places = productFiles(files).map(({ path }) => placeOf(path));
  const rooms = new Set(places.filter((place) => place.folder === folder).map(({ room }) => room));
  return [...rooms]
    .sort()
    .map((room) => `    ${idOf(folder, room)}["${room === "" ? `${folder}/*.ts` : room}"]`);
}

/** Without those that a longer way implies: where a uses b and b uses c, that a uses c as well is no news. */
function drawArrows(arrows: Arrows, indent: string): string[] {
  return [...arrows]
    .flatMap(([from, targets]) =>
      [...targets]
        .filter((to) => ![...targets].some((other) => other !== to && leadsTo(arrows, other, to)))
        .map((to) => `${indent}${from} --> ${to}`),
    )
    .sort();
}

function leadsTo(arrows: Arrows, from: string, to: string): boolean {
  const seen = new Set([from]);
  for (const at of seen) for (const next of arrows.get(at) ?? []) seen.add(next);
  return seen.has(to);
}
