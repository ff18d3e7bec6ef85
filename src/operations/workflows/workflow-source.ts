import { createHash } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from "node:fs";
import { basename, dirname, extname, resolve } from "node:path";
import { DarumaError } from "../../core/errors/errors.js";
import type { Definition } from "../../core/model/definition.js";
import { storedText } from "../../core/model/stored-definition.js";
import { oursFor } from "../../core/text/foreign-words.js";
import { InvalidWorkflow } from "../../file/invalid-workflow.js";
import { loadDefinition } from "../../file/load.js";
import { type Survey, surveyOf } from "../../file/survey.js";
import { compilePattern } from "../../run/sandbox/compile-pattern.js";
import { nameFinder } from "../../run/sandbox/names/find-names.js";
import { checkTemplate } from "../../run/sandbox/template.js";
import { checkExpression } from "../../run/sandbox/wrap-code.js";
import type { Reading, TextPlace, Workflow } from "./workflow.js";

const MAX_FILE_BYTES = 64 * 1024 * 1024;

/** What a file may name that others bring. */
type SettingsNames = Pick<TextPlace, "customActions" | "sharedBreakers" | "channelNames">;

/**
 * Reads a workflow. `startedIn` is the folder of the user who starts a run of it. Throws InvalidWorkflow with every
 * problem, or FILE_NOT_FOUND.
 */
export function readWorkflow(
  file: string,
  startedIn: string,
  reading: SettingsNames = { customActions: [] },
): Workflow {
  const path = resolve(file);
  const text = readSource(file);
  const read = readWorkflowText(text, { ...reading, file, folder: dirname(path) });
  const isThere = read.definition.batch?.startsIn === "run";
  return { ...read, file: path, ...(isThere ? { folder: resolve(startedIn) } : {}) };
}

/** A workflow that is no file here. Throws InvalidWorkflow with every problem. */
export function readWorkflowText(
  source: string,
  { file, folder, customActions, sharedBreakers = [], channelNames, surveys = false }: TextPlace,
): Workflow {
  let survey: Survey | null = null;
  const loaded = loadDefinition(source, {
    file,
    checkExpression,
    checkTemplate,
    compilePattern,
    findNames: nameFinder,
    customActions,
    sharedBreakers,
    ...(channelNames === undefined ? {} : { channelNames }),
    onRead: (read) => {
      if (surveys) survey = surveyOf(source, read);
    },
  });
  if (!loaded.ok) throw new InvalidWorkflow(file, loaded.problems, survey);
  const read = { ...fromDefinition(loaded.definition, folder), warnings: loaded.warnings, written: source };
  return surveys ? { ...read, survey } : read;
}

/** Throws InvalidWorkflow with every problem. */
export async function readTextIn(
  { customActions, sharedBreakers = [], channelNames, workflowReader }: Reading,
  source: string,
  place: Omit<TextPlace, keyof SettingsNames>,
): Promise<Workflow> {
  const names = channelNames === undefined ? {} : { channelNames };
  const whole = { ...place, customActions, sharedBreakers, ...names };
  return workflowReader === undefined ? readWorkflowText(source, whole) : workflowReader.read(source, whole);
}

export function fromDefinition(definition: Definition, folder: string): Workflow {
  const text = storedText(definition);
  return {
    definition,
    hash: createHash("sha256").update(text).digest("hex"),
    text,
    file: null,
    folder: resolve(folder),
    warnings: [],
  };
}

/** The text of a workflow file. Throws NOT_A_WORKFLOW for what another program runs, and whatever `readText` throws. */
export function readSource(file: string): string {
  const text = readText(file);
  const ours = oursFor("file", basename(file)) ?? oursFor("file", extname(file));
  if (ours === null) return text;
  const hint = `${ours.replaceAll("FILE", file)}.`;
  throw new DarumaError("NOT_A_WORKFLOW", `${file} is no workflow file`, { hint });
}

/** The text of a file. Throws FILE_NOT_FOUND, FILE_TOO_LARGE, or NOT_A_FILE for a pipe or device, which might never end or answer. */
export function readText(file: string): string {
  let bytes: Buffer;
  let descriptor: number | null = null;
  try {
    // Without O_NONBLOCK to open a pipe that nobody writes to waits for ever.
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
    const found = fstatSync(descriptor);
    if (!found.isFile()) throw notAFile(file, found);
    if (found.size > MAX_FILE_BYTES)
      throw new DarumaError(
        "FILE_TOO_LARGE",
        `${file} has ${found.size} bytes; ${MAX_FILE_BYTES} are allowed`,
      );
    bytes = readFileSync(descriptor);
  } catch (error) {
    if (error instanceof DarumaError) throw error;
    const reason =
      (error as NodeJS.ErrnoException).code === "ENOENT" ? "there is no such file" : (error as Error).message;
    throw new DarumaError("FILE_NOT_FOUND", `${file}: ${reason}`, { cause: error });
  } finally {
    if (descriptor !== null) closeSync(descriptor);
  }
  return bytes.toString("utf8");
}

function notAFile(file: string, found: Stats): DarumaError {
  const hint = found.isDirectory()
    ? { hint: "Name a workflow file in it; `daruma init` writes a first one." }
    : {};
  return new DarumaError("NOT_A_FILE", `${file} is ${kindOf(found)}`, hint);
}

function kindOf(found: Stats): string {
  if (found.isDirectory()) return "a folder";
  if (found.isFIFO()) return "a pipe";
  return found.isSocket() ? "a socket" : "a device";
}
