import { resolve as resolvePath } from "node:path";
import type { Worker } from "node:worker_threads";
import { DarumaError } from "../../core/errors/errors.js";
import { parseStoredDefinition } from "../../core/model/stored-definition.js";
import { messageOf } from "../../core/text/message-of.js";
import { editText, type WorkflowEdit } from "../../file/edit/edit-text.js";
import { InvalidWorkflow } from "../../file/invalid-workflow.js";
import { afterCpuTime } from "../../run/sandbox/thread-cpu.js";
import { startThread } from "../../run/sandbox/thread-file.js";
import type { TextPlace, TextReader, Workflow } from "./workflow.js";
import { readWorkflowText } from "./workflow-source.js";
import type {
  EditingAnswer,
  ReadingAnswer,
  TextRefused,
  TextToEdit,
  TextToRead,
  ThreadTold,
} from "./workflow-thread.js";

export interface WorkflowReaderLimits {
  /** A text up to this is read at once, which takes some 0.1 s: less than to start a thread. */
  readonly maxCharsAtOnce: number;
  /** CPU time. */
  readonly deadlineMs: number;
  readonly maxThreads: number;
  readonly maxWaiting: number;
}

const LIMITS: WorkflowReaderLimits = {
  maxCharsAtOnce: 64 * 1024,
  deadlineMs: 30_000,
  maxThreads: 2,
  maxWaiting: 16,
};
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 1_024 };

interface Reading {
  readonly task: TextToRead | TextToEdit;
  resolve(answer: ReadingAnswer | EditingAnswer): void;
  reject(error: DarumaError): void;
}

/**
 * Reads and edits workflow texts for a server. A large one takes seconds, in which nothing else would be answered and no
 * lease renewed, so it is read in a thread of its own, within a time limit.
 */
export class WorkflowReader implements TextReader {
  readonly #limits: WorkflowReaderLimits;
  readonly #waiting: Reading[] = [];
  readonly #underWay = new Map<Worker, Reading>();
  #isClosed = false;

  constructor(limits: Partial<WorkflowReaderLimits> = {}) {
    this.#limits = { ...LIMITS, ...limits };
  }

  /** Throws InvalidWorkflow with every problem, WORKFLOW_TOO_LARGE, or WORKFLOW_READER_BUSY. */
  async read(source: string, place: TextPlace): Promise<Workflow> {
    if (source.length <= this.#limits.maxCharsAtOnce) return readWorkflowText(source, place);
    const answer = (await this.#aside({ source, place })) as ReadingAnswer;
    if ("problems" in answer) throw new InvalidWorkflow(place.file, answer.problems, answer.survey);
    if ("error" in answer) throw errorOf(answer);
    const { text, hash, warnings, survey } = answer;
    const definition = parseStoredDefinition(text, hash);
    const where = { file: null, folder: resolvePath(place.folder), written: source };
    const read = { definition, hash, text, warnings, ...where };
    return survey === undefined ? read : { ...read, survey };
  }

  /** Throws INVALID_INPUT where the text cannot be changed, WORKFLOW_TOO_LARGE, or WORKFLOW_READER_BUSY. */
  async edit(source: string, edit: WorkflowEdit, file: string): Promise<string> {
    if (source.length <= this.#limits.maxCharsAtOnce) return editText(source, edit, file);
    const answer = (await this.#aside({ source, edit, file })) as EditingAnswer;
    if ("error" in answer) throw errorOf(answer);
    return answer.edited;
  }

  /** What is under way or waits is refused. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const threads = [...this.#underWay.keys()];
    for (const reading of [...this.#underWay.values(), ...this.#waiting.splice(0)])
      reading.reject(stopping());
    await Promise.all(threads.map((thread) => thread.terminate()));
  }

  #aside(task: TextToRead | TextToEdit): Promise<ReadingAnswer | EditingAnswer> {
    if (this.#isClosed) throw stopping();
    if (this.#waiting.length >= this.#limits.maxWaiting)
      throw new DarumaError("WORKFLOW_READER_BUSY", "too many large workflows are being read at the moment");
    return new Promise((resolve, reject) => {
      this.#waiting.push({ task, resolve, reject });
      this.#startNext();
    });
  }

  #startNext(): void {
    if (this.#isClosed || this.#underWay.size >= this.#limits.maxThreads) return;
    const reading = this.#waiting.shift();
    if (reading === undefined) return;
    const thread = startThread(new URL("./workflow-thread.js", import.meta.url), {
      env: {},
      workerData: reading.task,
      resourceLimits: RESOURCE_LIMITS,
    });
    this.#underWay.set(thread, reading);
    let threadId: number | null | undefined;
    const endWatch = afterCpuTime(
      () => threadId,
      this.#limits.deadlineMs,
      () => {
        reading.reject(tooLarge(`it takes longer than ${this.#limits.deadlineMs} ms to read`));
        void thread.terminate();
      },
    );
    thread.on("message", (told: ThreadTold | ReadingAnswer | EditingAnswer) => {
      if ("threadId" in told) ({ threadId } = told);
      else reading.resolve(told);
    });
    thread.on("error", (error) => reading.reject(refusalOf(error)));
    thread.on("exit", () => {
      endWatch();
      this.#underWay.delete(thread);
      // Without effect where it has answered.
      reading.reject(tooLarge("reading it was interrupted"));
      this.#startNext();
    });
  }
}

function errorOf({ error }: TextRefused): DarumaError {
  return new DarumaError(error.code, error.message, error);
}

function refusalOf(error: unknown): DarumaError {
  const isMemory = error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY";
  if (isMemory) return tooLarge("it takes too much memory to read");
  const reason = messageOf(error);
  return new DarumaError("INTERNAL", `a workflow could not be read: ${reason}`, { cause: error });
}

function tooLarge(reason: string): DarumaError {
  return new DarumaError("WORKFLOW_TOO_LARGE", `the workflow is too large: ${reason}`);
}

function stopping(): DarumaError {
  return new DarumaError("SERVER_STOPPING", "the server is stopping");
}
