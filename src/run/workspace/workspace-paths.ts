import { join } from "node:path";
import { DarumaError } from "../../core/errors/errors.js";

const ORDINAL_DIGITS = 4;
/** Folder name within the run's folder. */
export const WORKSPACE_FOLDER = "workspace";

/** The locations of the parts of one run's workspace. */
export interface WorkspacePaths {
  /** `output/run-{R}`, which holds patches and states. */
  readonly run: string;
  /** The folder that `remove` deletes. */
  readonly home: string;
  /** Our own repository with the objects and the private refs of checkpoints. No step works in it. */
  readonly store: string;
  /** One folder for each tree, named by its number. The pointer says which one is the workspace. */
  readonly trees: string;
  /** Our own indexes of the trees, apart from those that a step's `git add` writes. */
  readonly indexes: string;
  /** The positions of the trees' own repositories at the checkpoints. */
  readonly positions: string;
  readonly pointer: string;
}

export function workspacePaths(outputDir: string, runId: number): WorkspacePaths {
  assertCount("run id", runId);
  const run = join(outputDir, "output", `run-${runId}`);
  const home = join(run, WORKSPACE_FOLDER);
  return {
    run,
    home,
    store: join(home, "store.git"),
    trees: join(home, "trees"),
    indexes: join(home, "indexes"),
    positions: join(home, "positions"),
    pointer: join(home, "current.json"),
  };
}

export function treeFolder(paths: WorkspacePaths, tree: number): string {
  assertCount("number of a tree", tree);
  return join(paths.trees, String(tree));
}

/**
 * A checkpoint's patch file, relative to the run's folder, so that a recorded path is valid on every machine that sees
 * the folder.
 */
export function patchFile(ordinal: number): string {
  return join("patches", "steps", `step-${ordinalText(ordinal)}.patch`);
}

export function stateFile(ordinal: number): string {
  return join("state", "steps", `step-${ordinalText(ordinal)}.json`);
}

interface AttemptName {
  readonly job: number;
  readonly attempt: number;
}

/** The patch of files that an unfinished attempt left when another step was about to start. */
export function partialPatchFile(of: AttemptName): string {
  return join("patches", "partial", attemptName(of));
}

/** The patch of the files that existed when an attempt failed. */
export function failedPatchFile(of: AttemptName): string {
  return join("patches", "attempts", attemptName(of));
}

function attemptName({ job, attempt }: AttemptName): string {
  assertCount("id of a job", job);
  assertCount("number of an attempt", attempt);
  return `j${job}_a${attempt}.patch`;
}

/** The patch of what a rebuilt workspace lacks compared with the one before. */
export function previousPatchFile(rebuild: number): string {
  assertCount("number of a fresh workspace", rebuild);
  return join("patches", "previous", `rebuild-${rebuild}.patch`);
}

/** The patch of changes that no attempt had made, in the workspace that a rebuilt one takes the place of. */
export function otherPatchFile(rebuild: number): string {
  assertCount("number of a fresh workspace", rebuild);
  return join("patches", "other", `rebuild-${rebuild}.patch`);
}

export function checkpointRef(ordinal: number): string {
  return `refs/daruma/checkpoints/${ordinalText(ordinal)}`;
}

export function ordinalText(ordinal: number): string {
  assertCount("ordinal of a checkpoint", ordinal);
  return String(ordinal).padStart(ORDINAL_DIGITS, "0");
}

/** Checks a number that becomes part of a file name; anything else could lead out of the folder. */
function assertCount(what: string, value: number): void {
  if (Number.isSafeInteger(value) && value > 0) return;
  throw new DarumaError("INVALID_VALUE", `the ${what} is ${value}, not a whole number above 0`);
}
