import { constants, type Dirent, type Stats } from "node:fs";
import { access, lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { logFolder, outputFolder } from "../../run/worker/attempt-paths.js";
import { type Check, error, type Finding, ok, warning } from "./check.js";

const OF_OTHERS = 0o077;
/** How many of the newest run folders are checked. A problem of one mostly affects all. */
const MAX_RUN_FOLDERS = 200;
const MAX_NAMED = 3;

interface Looked {
  readonly path: string;
  readonly stats: Stats;
  readonly usable: boolean;
}

export const checkFiles: Check = {
  name: "permissions",
  async run({ outputDir, inspectStore }) {
    const place = (await inspectStore?.(false))?.place ?? "";
    const database = place.startsWith("/") ? [place, `${place}-wal`, `${place}-shm`] : [];
    const found = await look([outputDir, ...database, ...(await foldersIn(outputDir))]);
    if (found.length === 0) return [ok(`there are no files yet in ${outputDir}`)];
    const findings = [...unusable(found), ...foreign(found), ...open(found)];
    return findings.length > 0 ? findings : [ok(`only this user can read ${outputDir}`)];
  },
};

async function foldersIn(outputDir: string): Promise<string[]> {
  const [output, logs, work] = [outputFolder(outputDir), logFolder(outputDir), join(outputDir, "work")];
  const below: string[] = [];
  for (const folder of [output, logs, work]) {
    const names = (await entriesOf(folder)).filter((entry) => entry.isDirectory()).map(({ name }) => name);
    below.push(...names.slice(-MAX_RUN_FOLDERS).map((name) => join(folder, name)));
  }
  return [output, work, ...below];
}

async function look(paths: readonly string[]): Promise<Looked[]> {
  const found: Looked[] = [];
  for (const path of paths) {
    const stats = await lstat(path).catch(() => null);
    if (stats === null) continue;
    const mode = stats.isDirectory()
      ? constants.R_OK | constants.W_OK | constants.X_OK
      : constants.R_OK | constants.W_OK;
    const usable = await access(path, mode).then(
      () => true,
      () => false,
    );
    found.push({ path, stats, usable });
  }
  return found;
}

function unusable(found: readonly Looked[]): Finding[] {
  const those = found.filter(({ usable }) => !usable);
  if (those.length === 0) return [];
  return [
    error(
      `this process may not read and write ${named(those)}`,
      `Run Daruma as the user who owns them, or give them to this user: \`chown -R ${userName()} FOLDER\`.`,
    ),
  ];
}

/**
 * Files of other users that this process can use, for example as root. What one user writes, the other may not be able
 * to change.
 */
function foreign(found: readonly Looked[]): Finding[] {
  const uid = process.getuid?.();
  const those = found.filter(({ stats, usable }) => usable && uid !== undefined && stats.uid !== uid);
  if (those.length === 0) return [];
  const owners = [...new Set(those.map(({ stats }) => stats.uid))].join(", ");
  return [
    warning(
      `${named(those)} ${those.length === 1 ? "belongs" : "belong"} to user ${owners}, and this is user ${uid}`,
      "Run Daruma always as the same user. What one user writes, the other cannot change.",
    ),
  ];
}

function open(found: readonly Looked[]): Finding[] {
  const uid = process.getuid?.();
  // Other users' files are up to their owners, and nobody else can enter a closed folder.
  const [top, ...rest] = found.filter(
    ({ stats }) => !stats.isSymbolicLink() && (uid === undefined || stats.uid === uid),
  );
  if (top === undefined || (top.stats.mode & OF_OTHERS) === 0) return [];
  const those = [top, ...rest].filter(({ stats }) => (stats.mode & OF_OTHERS) !== 0);
  return [
    warning(
      `other users may read ${named(those)}: logs and outputs are not secret there`,
      `Run \`chmod -R go= ${top.path}\` unless you want that.`,
    ),
  ];
}

function named(found: readonly Looked[]): string {
  const some = found.slice(0, MAX_NAMED).map(({ path }) => path);
  const more = found.length - some.length;
  return more === 0 ? some.join(", ") : `${some.join(", ")} and ${more} more`;
}

function userName(): string {
  return String(process.getuid?.() ?? "USER");
}

async function entriesOf(folder: string): Promise<Dirent[]> {
  return readdir(folder, { withFileTypes: true }).catch(() => []);
}
