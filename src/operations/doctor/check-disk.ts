import { existsSync } from "node:fs";
import { statfs, unlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { aboutSize } from "../../core/text/amount-text.js";
import { messageOf } from "../../core/text/message-of.js";
import { type Check, error, type Finding, ok, warning } from "./check.js";

const LITTLE_BYTES = 1024 ** 3;
const ALMOST_NO_BYTES = 100 * 1024 ** 2;
const LITTLE_SHARE = 0.05;
const FEW_FILES_SHARE = 0.01;
/** Numbers that the kernel gives to file systems of other machines. SQLite needs locks and shared memory. */
const NETWORK_FILE_SYSTEMS: ReadonlyMap<number, string> = new Map([
  [0x6969, "NFS"],
  [0xff534d42, "CIFS"],
  [0xfe534d42, "SMB"],
]);
const FREE_IT =
  "Make room, or let the server remove what is old: docs/retention.md. `daruma prune --older-than 30d --dry-run` shows what could go.";

export const checkDisk: Check = {
  name: "disk",
  async run({ outputDir, inspectStore }) {
    const folder = nearestFolder(outputDir);
    const findings = [...(await space(folder)), ...(await writable(outputDir, folder))];
    const place = (await inspectStore?.(false))?.place;
    if (place?.startsWith("/") !== true) return findings;
    const holder = nearestFolder(dirname(place));
    const network = NETWORK_FILE_SYSTEMS.get((await statfs(holder)).type);
    if (network !== undefined)
      findings.push(
        warning(
          `the database ${place} is on ${network}, where SQLite can be damaged by two machines at once`,
          "Keep it on a local disk, or use PostgreSQL (--store postgres://...).",
        ),
      );
    return findings;
  },
};

async function space(folder: string): Promise<Finding[]> {
  const { bsize, bavail, blocks, ffree, files } = await statfs(folder);
  const free = bsize * bavail;
  const share = blocks === 0 ? 1 : bavail / blocks;
  const said = `${aboutSize(free)} free for ${folder}`;
  if (files > 0 && ffree / files < FEW_FILES_SHARE)
    return [error(`the file system of ${folder} has room for only ${ffree} more files`, FREE_IT)];
  if (free < ALMOST_NO_BYTES) return [error(`only ${said}`, FREE_IT)];
  if (free < LITTLE_BYTES && share < LITTLE_SHARE) return [warning(`only ${said}`, FREE_IT)];
  return [ok(said)];
}

/** Tried, because neither modes nor free blocks say it: quotas, read-only mounts, other users. */
async function writable(outputDir: string, folder: string): Promise<Finding[]> {
  const file = join(folder, `.daruma-doctor-${process.pid}`);
  try {
    await writeFile(file, "x".repeat(4_096), { mode: 0o600 });
    return [];
  } catch (thrown) {
    return [
      error(
        `nothing can be written to ${outputDir}: ${messageOf(thrown)}`,
        "Check its owner, its mode, its mount and the room on its disk; or name another folder with --output-dir.",
      ),
    ];
  } finally {
    await unlink(file).catch(() => {});
  }
}

/** The folder itself, or the one in which it would be made. */
export function nearestFolder(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestFolder(dirname(path));
}
