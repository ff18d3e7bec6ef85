import { type Dirent, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { DarumaError } from "../../core/errors/errors.js";
import { type RunReference, resolveRun } from "../../report/lookup/run-reference.js";
import { runFolder } from "../../worker/attempt-paths.js";
import { workspacePaths } from "../../workspace/workspace-paths.js";
import type { Context } from "../context.js";
import { type PartRequest, readPart } from "./file-part.js";

export interface Artifact {
  /** Its path below the run's folder, with slashes. */
  readonly name: string;
  readonly bytes: number;
}

const MAX_DEPTH = 8;
const MAX_ARTIFACTS = 100_000;

export async function listArtifacts(
  { store, outputDir }: Context,
  reference: RunReference,
): Promise<{ run_id: number; items: Artifact[] }> {
  const runId = await resolveRun(store, reference);
  return { run_id: runId, items: artifactsOf(outputDir, runId) };
}

export function artifactsOf(outputDir: string, runId: number): Artifact[] {
  const found: Artifact[] = [];
  const { run, home } = workspacePaths(outputDir, runId);
  collect(run, "", { depth: 0, omitted: home }, found);
  return found.sort((first, second) => (first.name < second.name ? -1 : 1));
}

/** Links are not followed: a step may have put one there. The files that steps work on are no artifacts. */
function collect(
  folder: string,
  prefix: string,
  { depth, omitted }: { readonly depth: number; readonly omitted: string },
  found: Artifact[],
): void {
  for (const entry of entriesOf(folder)) {
    if (found.length >= MAX_ARTIFACTS) return;
    const path = join(folder, entry.name);
    const name = `${prefix}${entry.name}`;
    if (entry.isDirectory() && depth < MAX_DEPTH && path !== omitted)
      collect(path, `${name}/`, { depth: depth + 1, omitted }, found);
    if (entry.isFile()) found.push({ name, bytes: lstatSync(path).size });
  }
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** The name is looked up among those that are there; no path is ever made from it. */
export async function readArtifact(
  context: Context,
  { run_id, name, ...part }: PartRequest & { readonly run_id: RunReference; readonly name: string },
) {
  const { run_id: runId, items } = await listArtifacts(context, run_id);
  const artifact = items.find((each) => each.name === name);
  if (artifact === undefined)
    throw new DarumaError("ARTIFACT_NOT_FOUND", `run ${runId} has no artifact ${name}`);
  const file = join(runFolder(context.outputDir, runId), artifact.name);
  return { run_id: runId, name: artifact.name, ...readPart(file, part) };
}
