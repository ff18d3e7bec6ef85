import { JOB_STATUSES } from "../core/model/rows.js";

/** What Torc's clients call a job that is held. Only the paths and tools that they know say it. */
const PUBLISHED_HELD = "pending_failed";

type Fields = { readonly [name: string]: unknown };

/** An answer with the status of a job, of the jobs in a list, or of the jobs that changed in runs. */
export function inPublishedWords(answer: unknown): unknown {
  if (answer === null || typeof answer !== "object") return answer;
  const { status, items, runs } = answer as Fields;
  return {
    ...answer,
    ...(status === "held" ? { status: PUBLISHED_HELD } : {}),
    ...(Array.isArray(items) ? { items: items.map(inPublishedWords) } : {}),
    ...(Array.isArray(runs) ? { runs: runs.map(changesInPublishedWords) } : {}),
  };
}

/** The status of the run itself has one name everywhere. */
function changesInPublishedWords(run: { readonly changed?: readonly Fields[] }): object {
  const changed = run.changed?.map((change) => ({
    ...change,
    ...(change.from === "held" ? { from: PUBLISHED_HELD } : {}),
    ...(change.to === "held" ? { to: PUBLISHED_HELD } : {}),
  }));
  return { ...run, ...(changed === undefined ? {} : { changed }) };
}

/** A filter by status takes both words there. */
export function fromPublishedWords({ status, ...others }: Fields): Fields {
  if (status === undefined) return others;
  const own = (text: unknown): unknown =>
    typeof text === "string" ? text.replaceAll(/\bpending_failed\b/g, "held") : text;
  return { ...others, status: Array.isArray(status) ? status.map(own) : own(status) };
}

/** The JSON Schema of what has these words. */
export function schemaInPublishedWords<Schema>(schema: Schema): Schema {
  const own = JSON.stringify(JOB_STATUSES);
  return JSON.parse(JSON.stringify(schema).replaceAll(own, own.replace('"held"', `"${PUBLISHED_HELD}"`)));
}
