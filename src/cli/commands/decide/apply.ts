import { open, rename, rm } from "node:fs/promises";
import { DarumaError } from "../../../core/errors/errors.js";
import type { Client, InputOf, OutputOf } from "../../../operations/client.js";
import type { Present } from "../../declare/declaration.js";
import { type Session, writeBytes, writeJson, writeLines } from "../../terminal/channel.js";

type Applied = OutputOf<"apply_run">;
type Patch = NonNullable<Applied["patch"]>;

/** Delivers the result of a run: on a new branch, into a file, or as a patch on stdout. */
export const apply: Present = async ({ input, flags }, session, client) => {
  const file = flags.patch as string | undefined;
  if (file !== undefined && input.branch !== undefined)
    throw new DarumaError("USAGE", "--branch and --patch cannot be combined");
  const applied = await client.call("apply_run", input as InputOf<"apply_run">);
  const { options, out } = session;
  const { patch } = applied;
  if (patch !== null && file !== undefined) await writePatch(client, applied.run_id, patch, file);
  if (options.json) writeJson(out, file === undefined ? applied : { ...applied, file });
  else if (patch !== null && file === undefined)
    for await (const piece of piecesOf(client, applied.run_id, patch)) await writeBytes(piece);
  if (!options.json && !options.quiet) tell(applied, file, session);
  return 0;
};

/** Describes the result on stdout, or on stderr if the patch itself goes to stdout. */
function tell(applied: Applied, file: string | undefined, { out, err }: Session): void {
  const { run_id, branch, commit, repo, patch, status, unfinished_files: left } = applied;
  if (branch !== null)
    writeLines(out, [`the result of run ${run_id} is the branch ${branch} of ${repo}, at ${commit}`]);
  else if (file !== undefined)
    writeLines(out, [
      `the result of run ${run_id} is in ${file}: ${countFiles(patch!.files)}, apply it with git apply`,
    ]);
  else if (patch!.bytes === 0) writeLines(err, [`run ${run_id} changed nothing`]);
  if (left > 0)
    writeLines(err, [
      `note: run ${run_id} is ${status}; ${countFiles(left)} in it come from a step that did not complete`,
    ]);
}

function countFiles(count: number): string {
  return `${count} changed ${count === 1 ? "file" : "files"}`;
}

async function writePatch(client: Client, runId: number, patch: Patch, file: string): Promise<void> {
  const temporary = `${file}.tmp-${process.pid}`;
  try {
    const handle = await open(temporary, "wx");
    try {
      for await (const piece of piecesOf(client, runId, patch)) await handle.writeFile(piece);
    } finally {
      await handle.close();
    }
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    if (error instanceof DarumaError) throw error;
    throw new DarumaError("USAGE", `cannot write ${file}: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

/** The patch in pieces, byte for byte. */
async function* piecesOf(client: Client, runId: number, { artifact, bytes }: Patch): AsyncGenerator<Buffer> {
  for (let offset = 0; offset < bytes; ) {
    const piece = await client.call("get_artifact", {
      run_id: runId,
      name: artifact,
      offset,
      encoding: "base64",
    });
    yield Buffer.from(piece.text, "base64");
    offset = piece.next_offset;
  }
}
