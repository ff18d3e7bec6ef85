import type { JobDraft, Unfilled } from "../fields/job-fields.js";
import { placeholdersIn } from "../read/placeholders.js";
import type { ReadContext } from "../read/schema.js";
import { quote } from "../read/suggest.js";
import type { Family } from "./families.js";

/** A parameter that the name of a job does not have stands for all of its values at once: only lists can take it. */
export function refuseSharedParameters(
  { draft: { keys }, name, members }: Family<JobDraft>,
  context: ReadContext,
): void {
  const all = members[0]?.each?.[0];
  if (all === undefined) return;
  const inName = placeholdersIn(name.value);
  const texts = [
    keys.command,
    keys.invocation_script,
    keys.cwd,
    keys.description,
    ...(keys.env?.values() ?? []),
  ];
  for (const text of texts.filter((given): given is Unfilled => given !== undefined)) {
    const shared = [...placeholdersIn(text.value)].find((used) => all.has(used) && !inName.has(used));
    if (shared === undefined) continue;
    const written = `{${shared}}`;
    context.findings.error({
      code: "INVALID_VALUE",
      message: `${quote(written)} has no single value here: the job's name does not have it, so one job stands for all its values`,
      hint: `Put ${quote(written)} into the name to make a job for each value, or remove it here.`,
      at: text.at,
      path: text.path,
    });
  }
}
