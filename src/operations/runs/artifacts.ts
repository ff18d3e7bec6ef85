import { type Dirent, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { DarumaError } from "../../core/errors/errors.js";
import { runFolder } from "../../run/worker/attempt-paths.js";
import { workspacePaths } from "../../run/workspace/workspace-paths.js";
import { type RunReference, resolveRun } from "../../tell/lookup/run-reference.js";
import type { Context } from "../context.js";
import { limitBytes, offset, type PartRequest, piece, readPart, tailBytes } from "../file-part.js";
import { operation } from "../operation.js";
import { refuseRemoved } from "../retention/removed-files.js";
import { encoding, runReference } from "../schemas.js";

export const listArtifacts = operation({
  name: "list_artifacts",
  summary: "list the files that belong to a run",
  description:
    "Lists the artifacts of a run: outputs too large for the log, failure contexts and summaries, patches and checkpoints. Read one with get_artifact.",
  role: "viewer",
  effect: "reads",
  input: z.strictObject({ run_id: runReference }),
  output: z.object({
    run_id: z.number(),
    items: z.array(z.object({ name: z.string(), bytes: z.number() })),
  }),
  rest: { method: "GET", path: "/runs/{run_id}/artifacts" },
  cli: [{ words: "artifacts", positional: ["run_id"], examples: ["daruma artifacts last"] }],
  handler: (context, { run_id }) => artifactsOfRun(context, run_id),
});

export const getArtifact = operation({
  name: "get_artifact",
  summary: "print a file that belongs to a run",
  description:
    "Reads an artifact by its name in list_artifacts, such as summaries/j30000001_a1.txt, from byte `offset` on; `next_offset` is where the next piece begins.",
  role: "viewer",
  effect: "reads",
  input: z.strictObject({
    run_id: runReference,
    name: z.string().min(1).max(1_024).describe("The name as list_artifacts returns it."),
    offset,
    limit_bytes: limitBytes,
    tail_bytes: tailBytes,
    encoding,
  }),
  output: piece.extend({ run_id: z.number(), name: z.string() }),
  rest: { method: "GET", path: "/runs/{run_id}/artifacts/{name}", lastTakesSlashes: true },
  cli: [
    {
      words: "artifact",
      positional: ["run_id", "name"],
      examples: ["daruma artifact last outputs/j30000001_a1.json"],
    },
  ],
  handler: (context, { limit_bytes, tail_bytes, ...request }) =>
    readArtifact(context, { ...request, limitBytes: limit_bytes, tailBytes: tail_bytes }),
});

interface Artifact {
  /** Its path below the run's folder, with slashes. */
  readonly name: string;
  readonly bytes: number;
}

const MAX_DEPTH = 8;

const MAX_ARTIFACTS = 100_000;

async function artifactsOfRun(
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
async function readArtifact(
  context: Context,
  { run_id, name, ...part }: PartRequest & { readonly run_id: RunReference; readonly name: string },
) {
  const { run_id: runId, items } = await artifactsOfRun(context, run_id);
  const artifact = items.find((each) => each.name === name);
  if (artifact === undefined) {
    refuseRemoved(context.outputDir, { runId, kind: "artifacts", since: null });
    throw new DarumaError("ARTIFACT_NOT_FOUND", `run ${runId} has no artifact ${name}`);
  }
  const file = join(runFolder(context.outputDir, runId), artifact.name);
  return { run_id: runId, name: artifact.name, ...readPart(file, part) };
}
