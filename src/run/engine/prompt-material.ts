import { MAX_CONTEXT_CHARS_TOTAL, type UpstreamText } from "../../core/failure/context-assembly.js";
import { actionTraits } from "../../core/model/action-traits.js";
import type { Job, Run } from "../../core/model/run.js";
import { firstChars, type LoggedText, lastChars } from "../../core/text/head-tail.js";
import type { Json } from "../../core/text/json.js";
import { outputsNamedInTemplate } from "../sandbox/names/find-names.js";
import type { Assignment } from "../worker.js";
import { outputOf, type ReadArtifact } from "./variables.js";

/** What the prompt of an agent or model gets in addition to the step's own keys. Empty for other steps. */
export function promptMaterialOf(
  run: Run,
  job: Job,
  readArtifact: ReadArtifact,
): Pick<Assignment, "promptMaterial"> {
  const { action } = job.step.definition;
  if (!actionTraits(action.type).isPrompted) return {};
  const named = [action.prompt, action.system].map((text) => outputsNamedInTemplate(textOf(text)));
  const upstream = upstreamOf(job, readArtifact).filter(({ step }) =>
    named.every((names) => names === "all" || !names.includes(step)),
  );
  return { promptMaterial: { objective: run.definition.name, upstream } };
}

/** The outputs of the step's own dependencies, in their order. */
export function upstreamOf(job: Job, readArtifact: ReadArtifact): UpstreamText[] {
  return [...new Set(job.step.groups.flat())].flatMap((step) => {
    const value = outputOf(job, step, readArtifact) ?? null;
    const text = typeof value === "string" ? value : JSON.stringify(value);
    return value === null || text === "" ? [] : [{ step: step.definition.id, text: endsOf(text) }];
  });
}

/** Beginning and end of a text. No context has room for more, so a worker does not need the rest. */
export function endsOf(text: string): LoggedText {
  if (text.length <= 2 * MAX_CONTEXT_CHARS_TOTAL) return text;
  const head = firstChars(text, MAX_CONTEXT_CHARS_TOTAL);
  const tail = lastChars(text, MAX_CONTEXT_CHARS_TOTAL);
  return { head, tail, omittedChars: text.length - head.length - tail.length };
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}
