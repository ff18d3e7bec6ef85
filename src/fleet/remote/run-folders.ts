import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import {
  logFolder,
  outputFolder,
  runFolder,
  runLogFolder,
  workFolderOf,
  workFolders,
} from "../../run/worker/attempt-paths.js";
import { currentOwner, isDead } from "../../store/lease-owner.js";
import type { LeaseOwner } from "../../store/store.js";
import { MAX_RUNS_MENTIONED } from "../desk/protocol.js";
import { rootMessageOf } from "./connection.js";

const MARK = /^process-.*\.json$/;
const GONE = ".gone-";

/**
 * What runs leave on a worker's disk, with a folder for each worker name below the output folder. Folders of runs are
 * removed when the server says that the run is over. Living workers clean up after dead ones.
 */
export class RunFolders {
  /** This worker's own folder. */
  readonly base: string;
  private readonly mark: string;
  private readonly orphaned: readonly string[];
  private mentioned = 0;
  private removed = 0;

  constructor(
    outputDir: string,
    name: string,
    private readonly instance: string,
    private readonly log: (line: string) => void,
  ) {
    const all = join(outputDir, "workers");
    this.base = join(all, name);
    this.mark = join(this.base, `process-${instance}.json`);
    mkdirSync(this.base, { recursive: true, mode: 0o700 });
    const left = namesIn(all)
      .map((one) => join(all, one))
      .filter(isLeft);
    // What was not delivered by now never will be.
    for (const folder of left) {
      for (const parent of [folder, workFolders(folder)])
        for (const name of namesIn(parent)) if (name.includes(GONE)) this.remove(join(parent, name));
      this.remove(outputFolder(folder));
    }
    writeFileSync(this.mark, JSON.stringify(currentOwner(instance)), { mode: 0o600 });
    this.orphaned = left.filter((folder) => folder !== this.base);
    for (const folder of this.orphaned) removeIfEmpty(folder);
  }

  /** Runs with folders here that are not in `busy`, as many as a heartbeat takes. The next ones follow later. */
  mention(busy: ReadonlySet<number>): number[] {
    const runs = new Set([this.base, ...this.orphaned].flatMap(runsIn));
    const idle = [...runs].filter((run) => !busy.has(run));
    if (this.mentioned >= idle.length) this.mentioned = 0;
    const some = idle.slice(this.mentioned, this.mentioned + MAX_RUNS_MENTIONED);
    this.mentioned += some.length;
    return some;
  }

  removeRun(runId: number): void {
    for (const folder of [this.base, ...this.orphaned]) {
      this.remove(workFolderOf(folder, runId));
      this.remove(runFolder(folder, runId));
      this.remove(runLogFolder(folder, runId));
    }
  }

  close(): void {
    rmSync(this.mark, { force: true });
  }

  /** Moves a folder away at once, however long the removal takes, so that its name is free again. */
  private remove(path: string): void {
    if (statSync(path, { throwIfNoEntry: false }) === undefined) return;
    this.removed += 1;
    const gone = `${path}${GONE}${this.instance}-${this.removed}`;
    try {
      renameSync(path, gone);
    } catch (error) {
      return this.log(`${path} could not be removed: ${rootMessageOf(error)}`);
    }
    // If the removal fails, the rest is removed when this worker's own folder is cleaned up.
    const ended = rm(gone, { recursive: true, force: true }).catch(() => {});
    void ended.then(() => {
      for (const folder of this.orphaned) removeIfEmpty(folder);
    });
  }
}

/** Whether no living process uses the folder. */
function isLeft(folder: string): boolean {
  const marks = namesIn(folder).filter((name) => MARK.test(name));
  const living = marks.filter((name) => {
    const owner = ownerIn(join(folder, name));
    if (owner === null || !isDead(owner)) return true;
    rmSync(join(folder, name), { force: true });
    return false;
  });
  return living.length === 0;
}

/** The owner in a file; null while it is being written. */
function ownerIn(file: string): LeaseOwner | null {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as LeaseOwner;
  } catch {
    return null;
  }
}

function runsIn(folder: string): number[] {
  return [workFolders(folder), outputFolder(folder), logFolder(folder)].flatMap(namesIn).flatMap((name) => {
    const run = /^run-(\d+)$/.exec(name)?.[1];
    return run === undefined ? [] : [Number(run)];
  });
}

function removeIfEmpty(folder: string): void {
  for (const one of [workFolders(folder), folder]) {
    try {
      rmdirSync(one);
    } catch {
      // It is not empty.
    }
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
