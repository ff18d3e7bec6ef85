import { existsSync, realpathSync, type Stats, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/** The name of a settings file that nobody has to name. */
export const SETTINGS_FILE = "daruma.config.yaml";

export interface FoundSettings {
  readonly file: string;
  /** Why it does not count; null: it does. */
  readonly distrust: string | null;
}

/**
 * The settings file in the folder of a workflow file; otherwise, within a git repository, the nearest in the working
 * folder and its parents. The first one is the answer, also if it does not count: none behind it takes its place.
 */
export function findSettings(folder: string | null): FoundSettings | null {
  const folders = [...(folder === null ? [] : [resolve(folder)]), ...foldersOfRepository(process.cwd())];
  for (const each of folders) {
    const file = join(each, SETTINGS_FILE);
    if (existsSync(file)) return { file, distrust: distrustOf(file) };
  }
  return null;
}

/** The folder and its parents, up to the root of its git repository; none outside of one. */
function foldersOfRepository(start: string): string[] {
  const folders: string[] = [];
  for (let folder = start; ; folder = dirname(folder)) {
    folders.push(folder);
    if (existsSync(join(folder, ".git"))) return folders;
    if (dirname(folder) === folder) return [];
  }
}

/**
 * Why a settings file is not trusted: somebody who can write it could have commands run, because a channel may be a
 * command.
 */
function distrustOf(file: string): string | null {
  const real = realpathSync(file);
  const places: [name: string, stats: Stats][] = [
    ["its folder", statSync(dirname(file))],
    ["it", statSync(real)],
  ];
  if (dirname(real) !== dirname(file)) places.push(["the folder it links to", statSync(dirname(real))]);
  for (const [name, { uid, mode }] of places) {
    if (uid !== 0 && uid !== process.geteuid?.()) return `${name} belongs to another user`;
    if ((mode & 0o022) !== 0) return `others may write ${name === "it" ? "it" : `into ${name}`}`;
  }
  return null;
}
