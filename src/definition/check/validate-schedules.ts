import type { Definition } from "../../core/model/definition.js";
import type { ScheduleDraft } from "../fields/start/schedule-fields.js";
import type { Findings } from "../read/problem.js";
import { quote } from "../read/suggest.js";
import { resolveInputs } from "./validate-inputs.js";

/** Nobody is there to give another value when a tick comes, so the inputs of a schedule must do as they are. */
export function validateSchedules(
  schedules: readonly ScheduleDraft[],
  definition: Definition,
  findings: Findings,
): void {
  for (const { definition: schedule, inputs, at, path } of schedules) {
    const resolved = resolveInputs(definition, schedule.inputs);
    for (const { code, input, message, hint } of resolved.ok ? [] : resolved.problems) {
      const given = inputs.get(input);
      const missing = `Give ${quote(input)} a value under \`inputs\` of the schedule, or a default.`;
      findings.error({
        code,
        message,
        hint: given === undefined ? missing : hint,
        at,
        path,
        ...placeOf(given),
      });
    }
  }
}

function placeOf(given: Pick<ScheduleDraft, "at" | "path"> | undefined) {
  return given === undefined ? {} : { at: given.at, path: given.path };
}
