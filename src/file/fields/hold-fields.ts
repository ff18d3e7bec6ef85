import type { HoldExpiry } from "../../core/model/time-used.js";
import { located, mapped, named, object, union } from "../read/schema.js";
import { duration, json, oneOf } from "../read/schema-scalars.js";

type Ending = Pick<HoldExpiry, "action" | "output">;

const byWord = mapped(oneOf(["fail", "skip", "retry"]), (action): Ending => ({ action }));
const withOutput = mapped(
  object({
    complete: {
      schema: json(),
      doc: "The step counts as completed with this output.",
      required: true,
    },
  }),
  (given): Ending => ({ action: "complete", output: given.complete ?? null }),
);

/** How long a hold waits for somebody to decide, and what is done then. */
export const hold = named(
  "hold",
  located(
    mapped(
      object({
        expires: {
          schema: duration({ min: 1 }),
          doc: "How long it waits for a decision.",
          required: true,
        },
        then: {
          schema: union(byWord, withOutput),
          doc: "What is done then: `fail`, `skip`, `retry` (once a job; held again, it fails), or `complete` with an output.",
          default: "fail",
        },
      }),
      (given): HoldExpiry => ({ expiresMs: given.expires ?? 0, ...(given.then ?? { action: "fail" }) }),
    ),
  ),
);
