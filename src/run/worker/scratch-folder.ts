import { createHash, randomUUID } from "node:crypto";
import { lstatSync, mkdirSync, mkdtempSync, type Stats } from "node:fs";
import { opendir, rename, rmdir, unlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { currentOwner, isDead } from "../../store/lease-owner.js";
import type { LeaseOwner } from "../../store/store.js";

/** Host, boot, process and its start time, then what `mkdtemp` adds. */
const NAME = /^daruma-([0-9a-f]{12})-([0-9a-f]{12})-(\d{1,10})-(\d+|unknown)-\w{6}(\.removing)?$/;
const UNKNOWN = "unknown";
/** Suffix of a folder whose removal has begun. */
const REMOVING = ".removing";
const MAX_LEFTOVERS = 100;
const MAX_ENTRIES = 20_000;
const MAX_TIDYING_MS = 2_000;
/** A folder that is being removed changes all the time. After this long without a change, the removal is stuck. */
const STUCK_AFTER_MS = 10_000;

/**
 * A private folder for this process's raw step outputs. It also removes those of killed processes. Errors in that do
 * not concern any run, so they are left to `doctor`.
 */
export class ScratchFolder {
  private path: string | null = null;
  /** Resolves when the leftovers of others have been handled. */
  tidied: Promise<void> = Promise.resolve();
  private readonly closing = new AbortController();

  constructor(readonly parent = tmpdir()) {}

  /** Creates the folder when it is first needed, and again if somebody has removed it. */
  open(): string {
    if (this.path !== null && (isOurFolder(this.path) || isMadeAgain(this.path))) return this.path;
    const isFirst = this.path === null;
    this.path = mkdtempSync(join(this.parent, `daruma-${markOf(currentOwner(""))}-`));
    if (isFirst) this.tidied = removeLeftovers(this.parent, this.closing.signal).catch(() => {});
    return this.path;
  }

  async close(): Promise<void> {
    this.closing.abort();
    await this.tidied;
    if (this.path === null || !isOurFolder(this.path)) return;
    await remove(this.path, AbortSignal.timeout(MAX_TIDYING_MS)).catch(() => {});
  }
}

/** Leftovers of this user's dead processes in the temporary folder that could not be removed. */
export async function stuckLeftovers(parent = tmpdir()): Promise<string[]> {
  const stuck: string[] = [];
  for await (const { name } of await opendir(parent)) {
    if (!name.endsWith(REMOVING) || !isLeftover(parent, name)) continue;
    const path = join(parent, name);
    if (Date.now() - (lookAt(path)?.mtimeMs ?? Infinity) > STUCK_AFTER_MS) stuck.push(path);
  }
  return stuck.sort();
}

async function removeLeftovers(parent: string, closing: AbortSignal): Promise<void> {
  const signal = AbortSignal.any([closing, AbortSignal.timeout(MAX_TIDYING_MS)]);
  let found = 0;
  for await (const { name } of await opendir(parent)) {
    if (signal.aborted || found === MAX_LEFTOVERS) return;
    if (!isLeftover(parent, name)) continue;
    found += 1;
    await removeLeftover(join(parent, name), signal).catch(() => {});
  }
}

async function removeLeftover(path: string, signal: AbortSignal): Promise<void> {
  const marked = path.endsWith(REMOVING) ? path : path + REMOVING;
  if (marked !== path) await rename(path, marked);
  await remove(marked, signal);
}

/**
 * Removes a folder. Nested folders are moved up before they are emptied, so that no path becomes too long, however deep
 * a step has nested them. Links are removed and never followed. What exceeds the limits is left for the next time.
 */
async function remove(folder: string, signal: AbortSignal): Promise<void> {
  let entries = 0;
  const isEnough = (): boolean => {
    entries += 1;
    return entries > MAX_ENTRIES || signal.aborted;
  };
  for (let isEmpty = false; !isEmpty; ) {
    isEmpty = true;
    for await (const entry of await opendir(folder)) {
      if (isEnough()) return;
      isEmpty = false;
      const path = join(folder, entry.name);
      if (!entry.isDirectory()) {
        await unlink(path);
        continue;
      }
      for await (const inner of await opendir(path)) {
        if (isEnough()) return;
        if (inner.isDirectory()) await rename(join(path, inner.name), join(folder, randomUUID()));
        else await unlink(join(path, inner.name));
      }
      await rmdir(path);
    }
  }
  await rmdir(folder);
}

/** Whether it was made by a process of this user, host and process namespace that certainly no longer exists. */
function isLeftover(parent: string, name: string): boolean {
  const owner = ownerIn(name);
  return owner !== null && isDead(owner) && isOurFolder(join(parent, name));
}

function markOf({ host, bootId, pid, processStart }: LeaseOwner): string {
  return [hashOf(host), hashOf(bootId), pid, /^\d+$/.test(processStart) ? processStart : UNKNOWN].join("-");
}

/** The owner in a folder's name. Null if the name has another form, or is from another host. */
function ownerIn(name: string): LeaseOwner | null {
  const [, host, boot, pid, processStart] = NAME.exec(name) ?? [];
  if (host === undefined || processStart === undefined) return null;
  const own = currentOwner("");
  if (host !== hashOf(own.host)) return null;
  const bootId = [own.bootId, UNKNOWN].find((known) => hashOf(known) === boot) ?? "another";
  return { ...own, bootId, pid: Number(pid), processStart };
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 12);
}

/** Whether the path is our folder. A link in its place does not count. */
function isOurFolder(path: string): boolean {
  const stats = lookAt(path);
  const uid = process.geteuid?.();
  return stats?.isDirectory() === true && (uid === undefined || stats.uid === uid);
}

function lookAt(path: string): Stats | null {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? null;
  } catch {
    return null;
  }
}

/** Creates the folder again at the same path, which running attempts still use. */
function isMadeAgain(path: string): boolean {
  try {
    mkdirSync(path, { mode: 0o700 });
    return true;
  } catch {
    return false;
  }
}
