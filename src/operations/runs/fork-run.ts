import { z } from "zod";
import type { Json } from "../../core/text/json.js";
import { requireRun, resolveRun } from "../../report/lookup/run-reference.js";
import type { Context } from "../context.js";
import { operation } from "../operation.js";
import { redacted } from "../operator-words.js";
import { fileName, key, labels, reason, runReference, source, variables } from "../schemas.js";
import { refuseVisibleSecrets } from "../workflows/check-secrets.js";
import { readTextIn } from "../workflows/workflow-source.js";
import { forkSource } from "./fork-source.js";
import {
  describeStarted,
  refuseChildrenWithoutFolder,
  requireRunner,
  startedBefore,
  startedRun,
} from "./started-run.js";

const input = z.strictObject({
  run_id: runReference,
  step: z.string().min(1).describe("The first step to run again."),
  source: source
    .optional()
    .describe("A newer text of the workflow; by default the old run's own definition."),
  file_name: fileName,
  inputs: variables.default({}).describe("Inputs that replace those of the old run."),
  labels: labels.optional().describe("Labels in addition to those of the old run."),
  reason,
  key: key.describe("Repeating the same key starts nothing; the answer is the run it started."),
});
type ForkRequest = z.output<typeof input>;

export const forkRun = operation({
  name: "fork_run",
  summary: "start a new run from a step of another run, reusing what came before",
  description:
    "Starts a new run that takes over what another run completed before `step`, and runs the rest, with the old run's definition or with `source`.",
  role: "operator",
  effect: "changes",
  makesRun: true,
  input,
  output: startedRun,
  rest: { method: "POST", path: "/runs/{run_id}/fork", status: 201 },
  cli: [
    {
      words: "fork",
      positional: ["run_id"],
      examples: [
        "daruma fork 3 --from deploy",
        "daruma fork last --from test --file release.yaml --input target=production",
      ],
    },
  ],
  actsOn: ({ run_id }) => [{ run: run_id }],
  handler: fork,
});

/** A new run that goes on from a step of another. */
async function fork(context: Context, request: ForkRequest) {
  const runner = requireRunner(context);
  refuseVisibleSecrets({ inputs: request.inputs as Json, labels: request.labels ?? {} });
  const { store } = context;
  const known = await startedBefore(context, request);
  if (known.run !== null) return known.run;
  const runId = await resolveRun(store, request.run_id);
  const { folder } = await requireRun(store, runId);
  const { source, file_name: file } = request;
  const { workflow, options } = await forkSource(store, {
    runId,
    step: request.step,
    ...(source === undefined
      ? {}
      : { newer: { ...(await readTextIn(context, source, { file, folder })), folder } }),
    inputs: request.inputs as { readonly [name: string]: Json },
    labels: request.labels ?? {},
    reason: await redacted(store, runId, request.reason),
  });
  refuseChildrenWithoutFolder(workflow.definition, workflow.folder);
  return describeStarted(context, await runner.start(workflow, { ...options, ...known.cause }));
}
