import { openSync, readFileSync, readSync } from "node:fs";

/** Returns the text of a file; null if it does not exist. */
export type ReadText = (path: string) => string | null;

/** Limits of the control groups that contain this process. Null for no limit. */
export interface ControlGroup {
  readonly cpus: number | null;
  readonly memoryBytes: number | null;
}

/** The folder of the control group, followed by those of all visible groups above it. */
type Folders = readonly string[];

/** Version 1 reports no limit as a huge number of bytes, rounded down to pages. */
const NO_MEMORY_BOUND = 2 ** 60;

/** Reads the limits from versions 1, 2, or both: each controller is in one of them. */
export function readControlGroup(read: ReadText): ControlGroup {
  const { v1, v2 } = hierarchies(read);
  const memory = v1("memory");
  const [folders, file] = memory.length > 0 ? [memory, "memory.limit_in_bytes"] : [v2(), "memory.max"];
  return {
    memoryBytes: least(folders.map((folder) => boundOf(read(`${folder}/${file}`)))),
    cpus: least([
      ...v1("cpu").map((folder) => quotaOfV1(read, folder)),
      ...v2().map((folder) => quotaOfV2(read(`${folder}/cpu.max`))),
      cpusetSize(read, v1("cpuset"), "cpuset.effective_cpus"),
      cpusetSize(read, v2(), "cpuset.cpus.effective"),
    ]),
  };
}

/** The file that counts the group's processes that the kernel has killed for lack of memory; null if there is none. */
export function oomFileOf(read: ReadText): string | null {
  const { v1, v2 } = hierarchies(read);
  const [memory] = v1("memory");
  const [unified] = v2();
  const file = memory === undefined ? `${unified ?? ""}/memory.events` : `${memory}/memory.oom_control`;
  return read(file) === null ? null : file;
}

function hierarchies(read: ReadText): {
  readonly v1: (controller: string) => Folders;
  readonly v2: () => Folders;
} {
  const groups = (read("/proc/self/cgroup") ?? "").split("\n");
  const mounts = (read("/proc/self/mountinfo") ?? "").split("\n");
  return {
    v1: (controller) => foldersOf(groupOf(groups, controller), mountOf(mounts, "cgroup", controller)),
    v2: () => foldersOf(groupOf(groups, ""), mountOf(mounts, "cgroup2", null)),
  };
}

/** Reads the count from `memory.events` or `memory.oom_control`. Kernels before 4.13 do not have it. */
export function oomKillsIn(text: string): number | null {
  const found = /^oom_kill (\d+)$/m.exec(text);
  return found === null ? null : Number(found[1]);
}

/** Finds the group. Lines are `ID:CONTROLLERS:PATH`; version 2 lists no controllers. */
function groupOf(groups: readonly string[], controller: string): string | null {
  for (const line of groups) {
    const [, controllers, ...path] = line.split(":");
    if (controllers?.split(",").includes(controller)) return path.join(":");
  }
  return null;
}

interface Mount {
  readonly root: string;
  readonly at: string;
}

/** Finds the mount. Lines are `ID PARENT DEVICE ROOT POINT OPTIONS [...] - TYPE SOURCE OPTIONS`. */
function mountOf(mounts: readonly string[], type: string, controller: string | null): Mount | null {
  for (const line of mounts) {
    const [before, after] = line.split(" - ");
    const [kind, , options] = (after ?? "").split(" ");
    if (kind !== type || (controller !== null && !(options ?? "").split(",").includes(controller))) continue;
    const [, , , root, at] = before!.split(" ");
    if (root !== undefined && at !== undefined) return { root, at };
  }
  return null;
}

function foldersOf(group: string | null, mount: Mount | null): Folders {
  if (group === null || mount === null) return [];
  // A container sees its own group as the root; outside of one the path is complete.
  const inside =
    mount.root === "/" ? group : group.startsWith(mount.root) ? group.slice(mount.root.length) : "";
  const names = inside.split("/").filter((name) => name !== "" && name !== "../../worker");
  return Array.from({ length: names.length + 1 }, (_, up) =>
    [mount.at, ...names.slice(0, names.length - up)].join("/"),
  );
}

function boundOf(text: string | null): number | null {
  const bytes = text === null || !/^\d+$/.test(text.trim()) ? null : Number(text);
  return bytes === null || bytes >= NO_MEMORY_BOUND ? null : bytes;
}

function quotaOfV1(read: ReadText, folder: string): number | null {
  const quota = Number(read(`${folder}/cpu.cfs_quota_us`) ?? -1);
  const period = Number(read(`${folder}/cpu.cfs_period_us`) ?? 0);
  return quota > 0 && period > 0 ? quota / period : null;
}

/** Reads `max 100000` or `200000 100000`. */
function quotaOfV2(text: string | null): number | null {
  const [quota, period] = (text ?? "").trim().split(" ").map(Number);
  return quota !== undefined && period !== undefined && quota > 0 && period > 0 ? quota / period : null;
}

/**
 * Counts a list such as `0-3,8`. The group's own list already includes the limits above it. The topmost group's list is
 * the whole machine, which is no limit.
 */
function cpusetSize(read: ReadText, folders: Folders, file: string): number | null {
  const text = folders.length < 2 ? null : read(`${folders[0]}/${file}`);
  if (text === null || text.trim() === "") return null;
  let size = 0;
  for (const part of text.trim().split(",")) {
    const [first, last] = part.split("-").map(Number);
    size += (last ?? first!) - first! + 1;
  }
  return Number.isSafeInteger(size) && size > 0 ? size : null;
}

function least(bounds: readonly (number | null)[]): number | null {
  const known = bounds.filter((bound) => bound !== null);
  return known.length === 0 ? null : Math.min(...known);
}

const MAX_FILE_BYTES = 4_096;

/**
 * Counts processes that the kernel has killed for lack of memory in this process's control group, which is also that of
 * its steps. The file is opened on the first call and kept open, because it is read for every attempt.
 */
export class KernelKills {
  private fd: number | null | undefined = undefined;
  private readonly buffer = Buffer.alloc(MAX_FILE_BYTES);

  constructor(private readonly findFile: () => string | null = findOomFile) {}

  /** The count; null if unknown. */
  count(): number | null {
    try {
      if (this.fd === undefined) this.fd = this.open();
      if (this.fd === null) return null;
      return oomKillsIn(
        this.buffer.toString("latin1", 0, readSync(this.fd, this.buffer, 0, MAX_FILE_BYTES, 0)),
      );
    } catch {
      return null;
    }
  }

  private open(): number | null {
    this.fd = null;
    const file = this.findFile();
    return file === null ? null : openSync(file, "r");
  }
}

function findOomFile(): string | null {
  return oomFileOf((path) => {
    try {
      return readFileSync(path, "utf8");
    } catch {
      return null;
    }
  });
}
