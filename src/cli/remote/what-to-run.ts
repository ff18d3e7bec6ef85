import { dirname, resolve } from "node:path";
import { InvalidWorkflow } from "../../file/invalid-workflow.js";
import { readSource, readWorkflow } from "../../operations/workflows/workflow-source.js";
import { type RunFlags, readStdin, STDIN, STDIN_NAME, splitVersion } from "../commands/run/run-flags.js";
import type { GlobalOptions } from "../terminal/channel.js";
import { isOnThisMachine } from "./runs-location.js";

type RunFolder = { readonly folder?: string };
type WhatToRun = RunFolder &
  ({ readonly source: string; readonly file_name: string } | { workflow: string; version?: number });

/** The workflow as input for operations: the text of a file, or the name of a stored workflow. */
export function whatToRun(
  file: string,
  flags: Pick<RunFlags, "stored" | "folder">,
  options: Pick<GlobalOptions, "server">,
): WhatToRun {
  const place = folderOf(file, flags, options);
  return { ...(flags.stored === true ? splitVersion(file) : textOf(file, place)), ...place };
}

function textOf(
  file: string,
  { folder }: RunFolder,
): { readonly source: string; readonly file_name: string } {
  if (file === STDIN) return { source: readStdin(), file_name: STDIN_NAME };
  return { source: readSource(file), file_name: folder === undefined ? file : resolve(file) };
}

/**
 * The folder for the run. A server on this machine uses the file's folder, as `daruma run` does. A stored workflow has
 * its own.
 */
function folderOf(
  file: string,
  { folder, stored }: Pick<RunFlags, "stored" | "folder">,
  { server }: Pick<GlobalOptions, "server">,
): RunFolder {
  if (typeof folder === "string") return { folder: resolve(folder) };
  const isHere = folder === undefined && stored !== true && (server === undefined || isOnThisMachine(server));
  if (!isHere) return {};
  return { folder: server === undefined ? folderHere(file) : dirname(resolve(file)) };
}

/** The folder where `daruma run` would start the steps. */
function folderHere(file: string): string {
  const ofFile = dirname(resolve(file));
  if (file === STDIN) return ofFile;
  try {
    return readWorkflow(file, process.cwd()).folder;
  } catch (error) {
    // The operation reports the problems of the workflow, because it knows the settings.
    if (error instanceof InvalidWorkflow) return ofFile;
    throw error;
  }
}
