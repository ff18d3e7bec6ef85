import { z } from "zod";
import { DRAWN_EDGE, DRAWN_NODE } from "../../file/draw/drawing.js";
import { json, recordOf } from "../schemas.js";
import { nodeJobs } from "./node-jobs.js";

const node = recordOf(DRAWN_NODE);
const edge = recordOf(DRAWN_EDGE);

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
