import type { Definition } from "../../core/definition.js";
import type { JobStatus } from "../../core/rows.js";
import { toDot, toMermaid } from "../../definition/graph.js";
import type { Session } from "../channel.js";
import { writeJson } from "../channel.js";
import { parseRunReference, type RunReference, resolveRun } from "../run-reference.js";

type Format = "mermaid" | "dot";
type Statuses = { readonly [step: string]: JobStatus };

/** A step may have a job in each branch; the one that most needs a look gives the colour. */
const MOST_TELLING: readonly JobStatus[] = [
  "failed",
  "pending_failed",
  "running",
  "recovering",
  "waiting",
  "canceled",
  "ready",
  "blocked",
  "completed",
  "skipped",
];

export async function graph(what: string, format: Format, session: Session): Promise<number> {
  const reference = parseRunReference(what);
  if (reference !== null) return graphOfRun(reference, format, session);
  const { readWorkflow } = await import("../../operations/workflow-source.js");
  return print(readWorkflow(what).definition, {}, format, session);
}

async function graphOfRun(reference: RunReference, format: Format, session: Session): Promise<number> {
  const { withStore } = await import("../with-store.js");
  return withStore(session, async (store) => {
    const run = (await store.readRun(await resolveRun(store, reference)))!;
    const definition = JSON.parse((await store.readDefinition(run.definition_hash)) ?? "null") as Definition;
    const statuses: { [step: string]: JobStatus } = {};
    for (const { step, status } of await store.readJobs(run.id)) {
      const before = Object.hasOwn(statuses, step) ? statuses[step]! : status;
      statuses[step] = MOST_TELLING.indexOf(status) < MOST_TELLING.indexOf(before) ? status : before;
    }
    return print(definition, statuses, format, session);
  });
}

function print(
  definition: Definition,
  statuses: Statuses,
  format: Format,
  { out, options }: Session,
): number {
  const text = format === "dot" ? toDot(definition, statuses) : toMermaid(definition, statuses);
  if (options.json) writeJson(out, { format, text });
  else out.write(text);
  return 0;
}
