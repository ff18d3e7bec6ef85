import { parentPort, workerData } from "node:worker_threads";
import { DarumaError, type ErrorCode } from "../../core/errors/errors.js";
import { editText, type WorkflowEdit } from "../../file/edit/edit-text.js";
import { InvalidWorkflow } from "../../file/invalid-workflow.js";
import type { Problem } from "../../file/read/problem.js";
import type { Survey } from "../../file/survey.js";
import { systemThreadId } from "../../run/sandbox/thread-cpu.js";
import type { TextPlace, Workflow } from "./workflow.js";
import { readWorkflowText } from "./workflow-source.js";

/** Entry of a thread that reads or edits one workflow text, answers and ends. */

export interface TextToRead {
  readonly source: string;
  readonly place: TextPlace;
}

export interface TextToEdit {
  readonly source: string;
  readonly edit: WorkflowEdit;
  readonly file: string;
}

export type TextRefused = {
  readonly error: { readonly code: ErrorCode; readonly message: string; readonly hint: string };
};

export type ReadingAnswer =
  | (Pick<Workflow, "survey"> & {
      readonly text: string;
      readonly hash: string;
      readonly warnings: readonly Problem[];
    })
  | { readonly problems: readonly Problem[]; readonly survey: Survey | null }
  | TextRefused;
export type EditingAnswer = { readonly edited: string } | TextRefused;
/** Comes before the answer. */
export type ThreadTold = { readonly threadId: number | null };

parentPort?.postMessage({ threadId: systemThreadId() } satisfies ThreadTold);
parentPort?.postMessage(answer(workerData as TextToRead | TextToEdit));

function answer(task: TextToRead | TextToEdit): ReadingAnswer | EditingAnswer {
  try {
    const { source } = task;
    if ("edit" in task) return { edited: editText(source, task.edit, task.file) };
    const { place } = task;
    const { text, hash, warnings, survey } = readWorkflowText(source, place);
    return { text, hash, warnings, ...(survey === undefined ? {} : { survey }) };
  } catch (error) {
    if (error instanceof InvalidWorkflow) return { problems: error.problems, survey: error.survey };
    if (!(error instanceof DarumaError)) throw error;
    const { code, message, hint } = error;
    return { error: { code, message, hint } };
  }
}
