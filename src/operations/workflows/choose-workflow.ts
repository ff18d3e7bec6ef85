import { dirname, isAbsolute, resolve } from "node:path";
import { DarumaError } from "../../core/errors/errors.js";
import type { Store } from "../../store/store.js";
import type { Context } from "../context.js";
import { publishedWorkflow, storedDefinition } from "./stored-workflows.js";
import type { Workflow } from "./workflow.js";
import { readTextIn } from "./workflow-source.js";

/** A workflow that came as text has none: each worker gives the run's steps a folder of its own. */
export const NO_FOLDER = "";

interface WorkflowChoice {
  readonly workflow?: number | string | undefined;
  readonly version?: number | undefined;
  readonly source?: string | undefined;
  readonly folder?: string | undefined;
  readonly file_name: string;
}

type ReadingContext = Pick<
  Context,
  "store" | "outputDir" | "customActions" | "sharedBreakers" | "channelNames" | "workflowReader"
>;

export async function chooseWorkflow(context: ReadingContext, request: WorkflowChoice): Promise<Workflow> {
  const { workflow, version, source, folder, file_name: file } = request;
  if ((workflow === undefined) === (source === undefined))
    throw new DarumaError(
      "INVALID_INPUT",
      "give either workflow, the name of a stored one, or source, its text",
    );
  if (folder !== undefined && !isAbsolute(folder))
    throw new DarumaError("INVALID_INPUT", `folder: ${folder} is not an absolute path`);
  if (source !== undefined) {
    const read = await readTextIn(context, source, { file, folder: folder ?? context.outputDir });
    if (folder === undefined) return { ...read, folder: NO_FOLDER };
    // The caller has read the text from that file, and can provide a newer one.
    return isAbsolute(file) && dirname(file) === resolve(folder) ? { ...read, file } : read;
  }
  const stored = await publishedAsWorkflow(context.store, workflow!, version);
  return folder === undefined ? stored : { ...stored, folder };
}

/** A published version as a run of it would be started; the newest by default. */
export async function publishedAsWorkflow(
  store: Store,
  reference: number | string,
  version?: number,
): Promise<Workflow> {
  const row = await publishedWorkflow(store, reference, version);
  const { definition, text } = await storedDefinition(store, row);
  const folder = row.file === null ? NO_FOLDER : dirname(row.file);
  return { definition, hash: row.definition_hash, text, file: row.file, folder, warnings: [] };
}
