import { z } from "zod";
import { ROUTE_ENDS } from "../../core/model/route.js";
import { jobStatus, json } from "../schemas.js";
import { nodeJobs } from "./node-jobs.js";

const node = z.object({
  name: z.string(),
  step: z.string().nullable().describe("Null: it stands for a choice between steps."),
  label: z.string(),
  shape: z.enum(["step", "routed", "for_each", "reduce", "or"]),
  status: jobStatus.nullable(),
});

const edge = z.object({
  id: z.string().describe("Where a workflow file has it, such as transitions[0]."),
  from: z.string(),
  to: z.string(),
  kind: z.enum([
    "depends",
    "on_fail",
    "on_success",
    "undo",
    "transition_success",
    "transition_failure",
    "transition_any",
  ]),
  route: z.enum(["run", "goto"]).nullable(),
  priority: z.number().nullable(),
  condition: z.string().nullable(),
  then: z
    .enum(ROUTE_ENDS)
    .nullable()
    .describe("Of a transition that takes a failure: what becomes of it when its route has completed."),
  label: z.string().nullable(),
});

const lines = z
  .object({ first: z.number(), last: z.number() })
  .nullable()
  .describe("The lines of the text that it stands in, from 1; null: no text was kept.");

/** A workflow or a run as nodes and edges. */
export const graph = z.object({
  nodes: z.array(
    node.extend({
      lines,
      jobs: nodeJobs
        .nullable()
        .describe("The jobs of the step in this run; null: there is no run, or no job."),
    }),
  ),
  edges: z.array(edge.extend({ lines })),
});

/** A text that may have problems, as far as it can be read, with the lines that everything stands in. */
export const survey = z.object({
  nodes: z.array(node.extend({ lines })),
  edges: z.array(
    edge.extend({
      lines,
      transition: z.number().nullable().describe("Its number in the list of transitions, from 1."),
      when: json.nullable().describe("Of a transition: its condition as data."),
      taken: z.string().nullable().describe("Of a transition: when it is taken."),
    }),
  ),
});
