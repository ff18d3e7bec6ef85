import type { Command } from "../../core/model/commands.js";
import type { EvaluationResult } from "../../core/model/events.js";
import { programFor } from "../../core/model/flow.js";
import type { Job, Run } from "../../core/model/run.js";
import type { Json } from "../../core/text/json.js";
import { messageOf } from "../../core/text/message-of.js";
import { chosenWithout } from "../../file/fields/action-fields.js";
import { outputsNamedInTemplate } from "../sandbox/names/find-names.js";
import { notRendered, type Rendered, type Rendering, renderInPlace } from "../sandbox/render-step.js";
import { envTemplates, type ReadArtifact, variablesFor } from "./variables.js";

export function isHumanStep(job: Job): boolean {
  return job.step.definition.action.type === "human";
}

type Ask = Extract<Command, { type: "human.ask" }>;

/** A question whose prompt is still to be rendered, in a thread so that other runs are not delayed. */
interface PendingQuestion {
  readonly rendering: Rendering;
  complete(result: EvaluationResult): Ask;
}

/** The rendered question of a human step. A prompt that cannot be rendered is asked unchanged, with the reason. */
export function questionFor(
  run: Run,
  job: Job,
  token: string,
  readArtifact: ReadArtifact,
): Ask | PendingQuestion {
  const { action, timeoutMs } = job.step.definition;
  const text = typeof action.prompt === "string" ? action.prompt : `Continue with ${job.step.definition.id}?`;
  const choose = chosenWithout(action);
  const ask = (prompt: string): Ask => ({
    type: "human.ask",
    job: job.id,
    token,
    prompt,
    choices: choicesOf(action.choices),
    timeoutMs,
    ...(choose === null ? {} : { choose }),
  });
  if (programFor(job) !== null) return ask(text);
  const asItStands = (why: string): Ask => ask(`${text}\n(${why})`);
  try {
    const variables = variablesFor({ run, job, outputs: outputsNamedInTemplate(text), readArtifact });
    const rendering: Rendering = {
      variables,
      env: envTemplates(variables, [text]),
      trees: [{ json: text, as: "text" }],
    };
    const rendered = renderInPlace(rendering);
    if (rendered !== null) return ask(String(rendered.trees[0]));
    const complete = (result: EvaluationResult): Ask =>
      result.ok
        ? ask(String((result.value as unknown as Rendered).trees[0]))
        : asItStands(notRendered(result.reason));
    return { rendering, complete };
  } catch (error) {
    return asItStands(messageOf(error));
  }
}

function choicesOf(choices: Json | undefined): readonly string[] {
  return Array.isArray(choices) ? choices.map(String) : ["approve", "reject"];
}
