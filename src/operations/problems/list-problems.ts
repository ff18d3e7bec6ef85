import { z } from "zod";
import { dependentsIn } from "../../tell/lookup/blocked-steps.js";
import { describeProblem, PROBLEM, type Problem } from "../../tell/problems/describe-problem.js";
import { openProblems, PROBLEM_KINDS, type ProblemGroup, runsIn } from "../../tell/problems/open-problems.js";
import type { Context } from "../context.js";
import { operation } from "../operation.js";
import { limit, listOf, name, recordOf } from "../schemas.js";

const MAX_ITEMS = 1_000;

const input = z.strictObject({
  kind: listOf(z.enum(PROBLEM_KINDS)).optional().describe("Only these kinds, separated by commas."),
  workflow: name.optional().describe("Only of this workflow."),
  problem: z
    .string()
    .max(64)
    .optional()
    .describe("Only the one with this id, in full, or the one that it was merged into."),
  job: z.coerce
    .number()
    .int()
    .positive()
    .optional()
    .describe("Only the one that this job is part of, by its id."),
  limit: limit.default(100),
  items: z.coerce
    .number()
    .int()
    .min(0)
    .max(MAX_ITEMS)
    .default(20)
    .describe(`How many jobs of each, up to ${MAX_ITEMS}.`),
});

export const listProblems = operation({
  name: "list_problems",
  summary: "list what needs a person, once for all runs with the same cause",
  description:
    "Lists problems of all runs: holds, dead letters, open questions, and failures that ended a run. Runs of a workflow that failed alike at a step are one problem, and so are, in one run, the items of a fan-out step and the jobs that one job with parameters makes; what blocks most comes first. Decide with decide_problems.",
  details:
    "`blocks` times `runs` is the order. A failed problem leaves the list when somebody sets it aside, or when a later run of the workflow passes the step. `counts` is of all problems, by kind, whatever is listed.",
  role: "viewer",
  effect: "reads",
  input,
  output: z.object({
    items: z.array(recordOf(PROBLEM)),
    total: z.number().describe("Of the filter; `items` may have fewer."),
    runs: z.number().describe("In how many runs."),
    counts: z.object({
      hold: z.number(),
      dead_letter: z.number(),
      question: z.number(),
      failed: z.number(),
    }),
  }),
  rest: { method: "GET", path: "/problems" },
  cli: [
    {
      words: "inbox",
      positional: [],
      examples: [
        "daruma inbox",
        "daruma inbox --kind hold,dead_letter --json",
        "daruma inbox --job 120000003",
      ],
    },
  ],
  store: "optional",
  handler: list,
});

async function list({ store, now }: Context, request: z.output<typeof input>) {
  const all = await openProblems(store, now());
  const asked = all.filter(
    ({ kind, workflow, jobs, causes }) =>
      (request.kind === undefined || request.kind.includes(kind)) &&
      (request.workflow === undefined || request.workflow === workflow) &&
      (request.problem === undefined || causes.some(({ id }) => id === request.problem)) &&
      (request.job === undefined || jobs.some((job) => job.id === request.job)),
  );
  const weighed = await Promise.all(
    asked.map(async (group) => ({ group, weight: await weightOf(store, group) })),
  );
  weighed.sort((a, b) => b.weight - a.weight || newestOf(b.group) - newestOf(a.group));
  const extent = { items: request.items, whole: request.problem !== undefined };
  const items: Problem[] = await Promise.all(
    weighed.slice(0, request.limit).map(({ group }) => describeProblem(store, group, extent)),
  );
  items.sort((a, b) => weight(b) - weight(a));
  return { items: items, total: asked.length, runs: runsOfAll(asked), counts: countsOf(all) };
}

/** Before the newest run is looked at: all that comes after the step. */
async function weightOf(store: Context["store"], group: ProblemGroup): Promise<number> {
  const { definition_hash, step } = group.jobs[0]!;
  return ((await dependentsIn(store, definition_hash)).of(step).length + 1) * runsIn(group);
}

function weight({ blocks, runs }: Problem): number {
  return (blocks.steps + 1) * runs;
}

function newestOf({ jobs }: ProblemGroup): number {
  return jobs[0]!.at;
}

function runsOfAll(groups: readonly ProblemGroup[]): number {
  return runsIn({ jobs: groups.flatMap(({ jobs }) => jobs) });
}

function countsOf(groups: readonly ProblemGroup[]) {
  const counts = { hold: 0, dead_letter: 0, question: 0, failed: 0 };
  for (const { kind } of groups) counts[kind] += 1;
  return counts;
}
