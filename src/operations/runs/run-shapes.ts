import { z } from "zod";
import { CONCURRENCY_POLICIES } from "../../core/groups/concurrency.js";
import { HELD_CHILD } from "../../tell/lookup/held-below.js";
import { RUN_PROGRAM } from "../../tell/lookup/run-program.js";
import { RECOVERY } from "../../tell/recoveries.js";
import { recordOf } from "../schemas.js";

export const interrupted = z
  .boolean()
  .describe(
    "No process is running the run although it could go on: its process ended. Computed when you ask; `status` is what the log says.",
  );

export const heldBelow = z
  .array(recordOf(HELD_CHILD))
  .describe(
    "Child runs that are held or paused, where the run waits for nothing else: whoever decides about them goes on with it.",
  );

export const imported = z
  .boolean()
  .describe("The run was imported: it can only be read and nothing is executed.");

export const needsProgram = recordOf(RUN_PROGRAM)
  .nullable()
  .describe(
    "The program whose functions are steps of the run, and the key that it gave the run: only this program goes on with it. Null: any process can, or servers do.",
  );

export const labels = z.record(z.string(), z.string()).describe("What people find the run by.");

export const concurrency = z
  .object({ group: z.string(), limit: z.number(), policy: z.enum(CONCURRENCY_POLICIES) })
  .nullable()
  .describe("The group in which the run needs a place; null: it needs none.");

export const runPriority = z.number().describe("Runs with a higher one get places and workers first.");

export const runLoops = z
  .object({ taken: z.number(), max: z.number(), scope: z.string() })
  .nullable()
  .describe(
    "The loops that count for `max_loops`, of the scope that has taken most of them; null: none has taken any.",
  );

export const waitsForPlace = z
  .object({
    kind: z.enum(["place", "child"]),
    position: z
      .number()
      .nullable()
      .describe(
        "Its position in the queue of its group, from 1; null: nobody waits with it, or it has begun.",
      ),
    runs: z.array(z.number()).describe("The runs that it waits for."),
    text: z.string(),
  })
  .nullable()
  .describe(
    "What a run that has not started waits for, or the child run that it waits for while somebody has to decide; null: for nothing.",
  );

export const pastAt = z
  .object({ seq: z.number(), time: z.string(), type: z.string() })
  .nullable()
  .describe("The event after which the run is shown; null: as it is now.");

export const recovery = recordOf(RECOVERY);
