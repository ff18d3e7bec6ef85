import { z } from "zod";

export const interrupted = z
  .boolean()
  .describe(
    "No process is running the run although it is not over: its process ended. Computed when you ask; `status` is what the log says.",
  );

export const imported = z
  .boolean()
  .describe("The run was imported: it can only be read and nothing is executed.");

export const labels = z.record(z.string(), z.string()).describe("What people find the run by.");

export const pastAt = z
  .object({ seq: z.number(), time: z.string() })
  .nullable()
  .describe("The event after which the run is shown; null: as it is now.");

export const recovery = z.object({
  number: z.number(),
  step: z.string(),
  scope: z.string(),
  rung: z.string(),
  to: z.string(),
  jobs: z.number().describe("More than one: branches of a fan-out that recovered alike."),
  times: z.number().describe("How often the rung acted."),
  first_seq: z.number(),
  last_seq: z.number(),
  first_at: z.string(),
  attempt: z.number().describe("The one that failed first."),
  reason: z.string(),
});
