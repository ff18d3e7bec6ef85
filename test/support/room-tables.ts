import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { repositoryRoot } from "./repository-root.js";

/** The files of a room that lie in none of its inner rooms. */
export const TOP = "";

/** What a room's README promises of its imports. */
export interface RoomTable {
  readonly mayImport: readonly string[];
  /** Lowest first: an inner room may import from every row before its own; rooms of one row do not meet. */
  readonly inside: readonly (readonly string[])[];
}
export type RoomTables = ReadonlyMap<string, RoomTable>;

/** The tables in `src/ROOM/README.md`, from the room that imports nothing upwards. */
export function readRoomTables(): RoomTables {
  const source = join(repositoryRoot, "src");
  const rooms = readdirSync(source, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const tables = rooms.flatMap(({ name }): [string, RoomTable][] => {
    const file = join(source, name, "README.md");
    return existsSync(file) ? [[name, parseRoomTable(readFileSync(file, "utf8"))]] : [];
  });
  return new Map(tables.sort(([, one], [, other]) => one.mayImport.length - other.mayImport.length));
}

export function parseRoomTable(text: string): RoomTable {
  const cell = (name: string): string | null =>
    new RegExp(`^\\| ${name} \\| (.*) \\|$`, "m").exec(text)?.[1] ?? null;
  const mayImport = cell("may import");
  if (mayImport === null) throw new Error("the README of a room has no row `may import`");
  const inside = cell("inside, lowest first");
  return {
    mayImport: mayImport === "nothing" ? [] : mayImport.split(", "),
    inside: inside === null ? [] : inside.split(" < ").map((row) => row.split(", ").map(innerRoom)),
  };
}

function innerRoom(name: string): string {
  return name === "(top)" ? TOP : name;
}
