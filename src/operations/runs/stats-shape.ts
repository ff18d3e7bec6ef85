import { z } from "zod";
import type { Answer } from "../operation.js";

const outcomes = z.object({
  at_once: z.number(),
  rescued: z.number(),
  handled: z.number(),
  held: z.number(),
  failed: z.number(),
  canceled: z.number(),
  active: z.number(),
});

const effort = {
  attempts: z.number(),
  attempts_until_success: z.number().nullable(),
  running_ms: z.number(),
  lost_ms: z.number(),
  retry_waiting_ms: z.number(),
};

const list = <Shape extends z.ZodRawShape>(shape: Shape) => z.array(z.object(shape)).readonly();

/** What `get_stats` answers. */
export const statistics = z.object({
  since: z.string().nullable(),
  until: z.string().nullable(),
  runs: z.number(),
  outcomes,
  bucket: z.enum(["hour", "day"]),
  over_time: z.array(outcomes.extend({ at: z.string() })),
  rungs: list({ by: z.string(), rescued: z.number(), not_rescued: z.number() }),
  ...effort,
  retries: z.number(),
  retry_rate: z.number(),
  by_action: list({
    action: z.string(),
    attempts: z.number(),
    failed: z.number(),
    retries: z.number(),
    retry_rate: z.number(),
  }),
  errors: list({ code: z.string(), class: z.string(), count: z.number(), rate: z.number() }),
  timeouts: z.object({ wall: z.number(), idle: z.number() }),
  recovery_scripts: z.object({ run: z.number(), failed: z.number() }),
  decisions: z.object({ holds: z.number(), questions: z.number(), median_ms: z.number().nullable() }),
  by_workflow: list({ workflow: z.string(), runs: z.number(), ...effort }),
  by_worker: list({
    worker: z.string(),
    attempts: z.number(),
    failed: z.number(),
    lost: z.number(),
    running_ms: z.number(),
  }),
  models: list({
    workflow: z.string(),
    step: z.string(),
    model: z.string(),
    calls: z.number(),
    input_tokens: z.number(),
    output_tokens: z.number(),
  }),
});
export type StatsAnswer = Answer<typeof statistics>;
