import { createHash } from "node:crypto";
import { basename } from "node:path";
import { InvalidWorkflow } from "../../file/invalid-workflow.js";
import type { Lines, Survey } from "../../file/survey.js";
import type { Reading } from "./workflow.js";
import { readTextIn } from "./workflow-source.js";

/** The lines of a workflow's steps and edges in its text. */
export interface SourceLines {
  readonly ofStep: (step: string | null) => Lines | null;
  readonly ofEdge: (id: string) => Lines | null;
}

/** Cached by the hash of the text. */
const KNOWN = new Map<string, SourceLines>();
const MAX_KNOWN = 100;

export const NO_LINES: SourceLines = { ofStep: () => null, ofEdge: () => null };

export function linesOf(survey: Survey | null): SourceLines {
  if (survey === null) return NO_LINES;
  const steps = new Map(survey.nodes.map(({ step, lines }) => [step, lines]));
  const edges = new Map(survey.edges.map(({ id, lines }) => [id, lines]));
  return {
    ofStep: (step) => (step === null ? null : (steps.get(step) ?? null)),
    ofEdge: (id) => edges.get(id) ?? null,
  };
}

/** The lines of a stored text. A run's graph is drawn again with every event, so its text is read once. */
export async function keptLines(reading: Reading, text: string, file: string | null): Promise<SourceLines> {
  const name = basename(file ?? "workflow.yaml");
  const hash = createHash("sha256").update(`${name}\n${text}`).digest("hex");
  const known = KNOWN.get(hash);
  if (known !== undefined) return known;
  const found = linesOf(await surveyIn(reading, text, name));
  if (KNOWN.size >= MAX_KNOWN) KNOWN.delete(KNOWN.keys().next().value!);
  KNOWN.set(hash, found);
  return found;
}

/** A text that an older Daruma took may have problems by now: it is shown as far as it can be read. */
async function surveyIn(reading: Reading, text: string, file: string): Promise<Survey | null> {
  try {
    return (await readTextIn(reading, text, { file, folder: "/", surveys: true })).survey ?? null;
  } catch (error) {
    if (error instanceof InvalidWorkflow) return error.survey;
    throw error;
  }
}
