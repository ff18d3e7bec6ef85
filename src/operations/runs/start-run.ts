import { z } from "zod";
import type { Json } from "../../core/text/json.js";
import type { Context } from "../context.js";
import { operation } from "../operation.js";
import {
  fileName,
  flag,
  keepStoodIn,
  key,
  labels,
  name,
  priority,
  reuse,
  source,
  variables,
} from "../schemas.js";
import { refuseVisibleSecrets } from "../workflows/check-secrets.js";
import { chooseWorkflow } from "../workflows/choose-workflow.js";
import type { StartOptions } from "./start-options.js";
import {
  describeStarted,
  refuseChildrenWithoutFolder,
  requireRunner,
  startedBefore,
  startedRun,
} from "./started-run.js";

const budget = z.coerce.number().int().min(0).optional();

const input = z.strictObject({
  workflow: z
    .union([z.number().int().positive(), name])
    .optional()
    .describe("A stored workflow: its name, or its id."),
  version: z.coerce.number().int().positive().optional().describe("By default the newest."),
  source: source.optional(),
  file_name: fileName,
  folder: z
    .string()
    .max(4_096)
    .optional()
    .describe("An absolute path that relative paths start from; by default a folder of its own."),
  inputs: variables.default({}).describe("Inputs of the workflow, by name."),
  context: variables.default({}).describe("More variables, such as pr and files."),
  labels: labels.optional(),
  priority: priority.optional(),
  max_loops: budget.describe("Overrides routing.max_loops."),
  retry_max: budget.describe("Overrides every step's retry.max."),
  failure_routing: flag.default(true).describe("False: a failure fails its step at once."),
  only: z.string().optional().describe("Only one attempt of this step."),
  strict: flag
    .default(false)
    .describe("A handled failure makes the exit code 1, and is a failure in reports."),
  reuse: reuse.optional(),
  keep_stood_in: keepStoodIn,
  key: key.describe("Repeating the same key starts nothing; the answer is the run it started."),
});
type StartRequest = z.output<typeof input>;

export const startRun = operation({
  name: "start_run",
  summary: "run a workflow",
  description:
    "Starts a run of a stored workflow (`workflow`) or of a workflow text (`source`). Follow it with get_run. Inputs are stored in plain text: never put a secret there.",
  details:
    "Inputs or context that look like a password or token are refused. Set secrets in the environment of the worker and name them under `secrets` in the workflow.",
  role: "operator",
  effect: "changes",
  makesRun: true,
  input,
  output: startedRun,
  rest: { method: "POST", path: "/runs", status: 201 },
  cli: [
    {
      words: "run",
      summary: "run a workflow file to its end",
      positional: [],
      examples: [
        "daruma run release.yaml",
        "daruma run release.yaml --input target=production --max-parallel 4",
        "daruma run release.yaml --only test --verbose",
        "daruma run release.yaml --reuse",
        "daruma run release.yaml --reuse --dry-run",
        "daruma run release.yaml --json > result.json",
        "daruma run release.yaml --server http://127.0.0.1:7420 --detach",
      ],
    },
  ],
  handler: start,
});

/** A stored workflow, or a text that was sent along, as a new run. */
async function start(context: Context, request: StartRequest) {
  const runner = requireRunner(context);
  refuseVisibleSecrets({
    inputs: request.inputs as Json,
    context: request.context as Json,
    labels: request.labels ?? {},
  });
  const known = await startedBefore(context, request);
  if (known.run !== null) return known.run;
  const { max_loops, retry_max, only, reuse: from } = request;
  const options: StartOptions = {
    inputs: request.inputs as StartOptions["inputs"] & object,
    context: request.context as StartOptions["context"] & object,
    failureRouting: request.failure_routing,
    strict: request.strict,
    ...(request.labels === undefined ? {} : { labels: request.labels }),
    ...(request.priority === undefined ? {} : { priority: request.priority }),
    ...(max_loops === undefined ? {} : { maxLoops: max_loops }),
    ...(retry_max === undefined ? {} : { retryMax: retry_max }),
    ...(only === undefined ? {} : { only }),
    ...(from === undefined ? {} : { reuse: from }),
    ...(request.keep_stood_in ? { keepStoodIn: true } : {}),
    ...known.cause,
  };
  const workflow = await chooseWorkflow(context, request);
  refuseChildrenWithoutFolder(workflow.definition, workflow.folder);
  return describeStarted(context, await runner.start(workflow, options));
}
