import { z } from "zod";
import type { Json } from "../../core/text/json.js";
import { oneLine } from "../../core/text/plain-text.js";
import { nameOf } from "../../tell/lookup/job-name.js";
import type { Context } from "../context.js";
import { operation } from "../operation.js";
import { checkedInputs } from "../runs/start-options.js";
import { fileName, keepStoodIn, name, reuse, source, variables } from "../schemas.js";
import { chooseWorkflow } from "../workflows/choose-workflow.js";
import type { FileTrouble, NeverReused, PlannedJob, Verdict, WhyItRuns } from "./reasons.js";
import { planFrom } from "./reuse-run.js";

const NEVER: Readonly<Record<NeverReused, string>> = {
  reuse_false: "the step has reuse: false",
  ephemeral_data: "it writes user data that starts again in each run",
  human: "people are asked in every run",
  child_workflow: "child workflows always run",
  workspace: "it works in the workspace, and every run has its own",
};

const TROUBLE: Readonly<Record<FileTrouble, string>> = {
  changed: "has changed",
  missing: "is missing",
  unreadable: "cannot be read",
  not_a_file: "is not a plain file, so its content is not compared",
  not_recorded: "was not recorded",
};

/** A short text that can follow the name of a job. */
function whyText(why: WhyItRuns): string {
  switch (why.kind) {
    case "new_step":
      return "the step is new";
    case "definition":
      return `its definition has changed: ${why.keys.join(", ")}`;
    case "inputs":
    case "context":
      return `${why.kind === "inputs" ? "inputs have" : "the context has"} changed: ${why.names.join(", ")}`;
    case "secrets":
      return "the list of secrets has changed";
    case "folder":
      return "the workflow's folder is another one";
    case "never":
      return NEVER[why.because];
    case "not_completed":
      return why.status === "completed"
        ? "what follows its success was not finished"
        : `it did not complete: ${why.status}`;
    case "stood_in":
      return `it failed, and ${why.by} stood in for it`;
    case "by_hand":
      return "its end was decided by hand";
    case "undone":
      return "it was undone";
    case "input_file":
      return `the input file ${oneLine(why.path)} ${TROUBLE[why.file]}`;
    case "output_file":
      return `the output file ${oneLine(why.path)} ${TROUBLE[why.file]}`;
    case "output_gone":
      return "its output is no longer stored";
    case "dependency":
      return `it depends on ${nameOf(why.job.step, why.job.scope)}, which runs`;
    case "routing":
      return `${nameOf(why.job.step, why.job.scope)} led to it or follows from it, and runs`;
  }
}

/** More than a run of the batch form has. */
export const MAX_DIFFERENCES = 1_000_000;

const input = z.strictObject({
  workflow: z
    .union([z.number().int().positive(), name])
    .optional()
    .describe("A stored workflow: its name, or its id."),
  version: z.coerce.number().int().positive().optional().describe("By default the newest."),
  source: source.optional(),
  file_name: fileName,
  folder: z.string().max(4_096).optional().describe("As for start_run."),
  inputs: variables.default({}).describe("As for start_run."),
  context: variables.default({}).describe("As for start_run."),
  reuse: reuse.default("last_ended"),
  keep_stood_in: keepStoodIn,
  max_jobs: z.coerce
    .number()
    .int()
    .min(0)
    .max(MAX_DIFFERENCES)
    .default(1_000)
    .describe("How many jobs to list; those that run come first."),
});

const planned = z.object({
  step: z.string(),
  scope: z.string(),
  verdict: z
    .enum(["take_over", "run", "decide"])
    .describe("`decide`: it was skipped; whether it is skipped again is decided in the run."),
  why: z.looseObject({ kind: z.string() }).nullable().describe("Why it runs, for programs."),
  reason: z.string().nullable().describe("The same for people."),
});

export const diffRun = operation({
  name: "diff_run",
  summary: "show which jobs a run with --reuse would run, and why",
  description:
    "Compares a workflow with an earlier run: which jobs start_run with `reuse` would take over, which it would run, and why. Runs nothing.",
  role: "operator",
  effect: "reads",
  input,
  output: z.object({
    workflow: z.string(),
    from_run: z.number().nullable().describe("Null: no run to take anything from; everything runs."),
    take_over: z.number(),
    run: z.number(),
    decide: z.number(),
    jobs: z.array(planned),
    left_off: z.number().describe("Jobs beyond max_jobs."),
  }),
  rest: { method: "POST", path: "/runs/diff" },
  cli: [],
  store: "optional",
  audience: "people",
  handler: diff,
});

async function diff(context: Context, request: z.output<typeof input>) {
  const { definition, folder } = await chooseWorkflow(context, request);
  const material = {
    definition,
    folder,
    inputs: checkedInputs(definition, request.inputs as { readonly [name: string]: Json }),
    context: request.context as { readonly [name: string]: Json },
  };
  const compared = await planFrom(context.store, request.reuse, material, request.keep_stood_in);
  const jobs = compared?.plan.jobs ?? definition.steps.map(({ id }) => newJob(id));
  const count = (verdict: Verdict): number => jobs.filter((job) => job.verdict === verdict).length;
  const ordered = [...jobs].sort((first, second) => ORDER[first.verdict] - ORDER[second.verdict]);
  return {
    workflow: definition.name,
    from_run: compared?.fork.from ?? null,
    take_over: count("take_over"),
    run: count("run"),
    decide: count("decide"),
    jobs: ordered
      .slice(0, request.max_jobs)
      .map((job) => ({ ...job, reason: job.why === null ? null : whyText(job.why) })),
    left_off: Math.max(0, jobs.length - request.max_jobs),
  };
}

const ORDER: Readonly<Record<Verdict, number>> = { run: 0, decide: 1, take_over: 2 };

function newJob(step: string): PlannedJob {
  return { step, scope: "root", verdict: "run", why: { kind: "new_step" } };
}
