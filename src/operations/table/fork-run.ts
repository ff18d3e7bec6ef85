import { z } from "zod";
import { operation } from "../operation.js";
import { forkRun } from "../runs/start-run.js";
import { started } from "./run-control.js";
import { fileName, key, reason, runReference, source, variables } from "./schemas.js";

export const forkRunOperation = operation({
  name: "fork_run",
  summary: "a new run that reuses what another completed before a step, and goes on from there",
  description:
    "Starts a new run that takes over what another run completed before `step` and does that step and all that depends on it anew, with the old run's frozen definition or with a newer text of the workflow.",
  role: "operator",
  effect: "changes",
  makesRun: true,
  input: z.strictObject({
    run_id: runReference,
    step: z.string().min(1).describe("The first step that is done anew, with all that depends on it."),
    source: source
      .optional()
      .describe("A newer text of the workflow; by default the old run's own definition."),
    file_name: fileName,
    inputs: variables.default({}).describe("Over the inputs of the old run."),
    reason,
    key: key.describe("The same key again starts nothing: the answer is the run that it started."),
  }),
  output: started,
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
  handler: (context, input) => forkRun(context, input),
});
