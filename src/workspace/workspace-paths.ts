import { join } from "node:path";
import { DarumaError } from "../core/errors/errors.js";

const ORDINAL_DIGITS = 4;
/** In the run's folder. */
export const WORKSPACE_FOLDER = "workspace";

/** Where the parts of one run's workspace lie. */
export interface WorkspacePaths {
  /** `output/run-{R}`: patches and states lie below it. */
  readonly run: string;
  /** All that `remove` takes away. */
  readonly home: string;
  /** Our own repository: the objects, and the private refs of the checkpoints. No step works in it. */
  readonly store: string;
  /** One folder a tree, by its number; the pointer says which of them is the workspace. */
  readonly trees: string;
  /** Our indexes of the trees: never those a step's own `git add` writes. */
  readonly indexes: string;
  /** Where the trees' own repositories stood at the checkpoints. */
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

/** Relative to the run's folder, so that a record of it is true on every machine that sees the folder. */
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

/** Of what an attempt left behind and did not complete, when another step was to start there. */
export function partialPatchFile(of: AttemptName): string {
  return join("patches", "partial", attemptName(of));
}

/** Of what was there when an attempt failed. */
export function failedPatchFile(of: AttemptName): string {
  return join("patches", "attempts", attemptName(of));
}

function attemptName({ job, attempt }: AttemptName): string {
  assertCount("id of a job", job);
  assertCount("number of an attempt", attempt);
  return `j${job}_a${attempt}.patch`;
}

/** Of what a way back has taken from the workspace that was built for it. */
export function previousPatchFile(rebuild: number): string {
  assertCount("number of a fresh workspace", rebuild);
  return join("patches", "previous", `rebuild-${rebuild}.patch`);
}

export function checkpointRef(ordinal: number): string {
  return `refs/daruma/checkpoints/${ordinalText(ordinal)}`;
}

export function ordinalText(ordinal: number): string {
  assertCount("ordinal of a checkpoint", ordinal);
  return String(ordinal).padStart(ORDINAL_DIGITS, "0");
}

/** Names are made of these numbers; anything else could lead out of the folder. */
function assertCount(what: string, value: number): void {
  if (Number.isSafeInteger(value) && value > 0) return;
  throw new DarumaError("INVALID_VALUE", `the ${what} is ${value}, not a whole number above 0`);
}
