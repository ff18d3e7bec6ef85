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
