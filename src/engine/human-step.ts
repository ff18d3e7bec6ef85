import type { Command } from "../core/commands.js";
import type { Json } from "../core/json.js";
import { messageOf } from "../core/message-of.js";
import type { Job, Run } from "../core/run.js";
import { outputsNamedInTemplate } from "../sandbox/names/find-names.js";
import { renderTemplate } from "../sandbox/template.js";
import { type ReadArtifact, variablesFor } from "./variables.js";

/** In the place of a worker's name, in attempts that wait for a person. */
export const HUMAN = "human";

export function isHumanStep(job: Job): boolean {
  return job.step.definition.action.type === "human";
}

/** The question of a human step, rendered. A prompt that does not render is asked as it stands, with the reason. */
export function questionFor(
  run: Run,
  job: Job,
  token: string,
  readArtifact: ReadArtifact,
): Extract<Command, { type: "human.ask" }> {
  const { action, timeoutMs } = job.step.definition;
  const text = typeof action.prompt === "string" ? action.prompt : `Go on with ${job.step.definition.id}?`;
  return {
    type: "human.ask",
    job: job.id,
    token,
    prompt: renderPrompt(run, job, text, readArtifact),
    choices: choicesOf(action.choices),
    timeoutMs,
  };
}

function renderPrompt(run: Run, job: Job, text: string, readArtifact: ReadArtifact): string {
  try {
    return renderTemplate(
      text,
      variablesFor({ run, job, outputs: outputsNamedInTemplate(text), readArtifact }),
    );
  } catch (error) {
    return `${text}\n(${messageOf(error)})`;
  }
}

function choicesOf(choices: Json | undefined): readonly string[] {
  return Array.isArray(choices) ? choices.map(String) : ["approve", "reject"];
}
