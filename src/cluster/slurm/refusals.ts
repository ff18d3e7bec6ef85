import { refuse } from "../check-spec.js";
import { type CommandAnswer, failureWords } from "../command.js";
import type { Refusal, RefusalCode } from "../provider.js";

/** What sbatch says when it does not take a job. The first that matches counts. */
const REFUSALS: readonly (readonly [RegExp, RefusalCode])[] = [
  [
    /unable to contact|timed out|temporarily|try again|communication|not responding|job submit limit/i,
    "BUSY",
  ],
  [/invalid partition|required partition not available/i, "NO_TARGET"],
  [
    /memory specification|requested node configuration|node count|time limit|more processors|not satisf|too many/i,
    "TOO_BIG",
  ],
  [/denied|not permitted|not allowed|violates accounting|invalid account|authentication/i, "DENIED"],
  [/unrecognized option|invalid|unknown|bad |ambiguous|requires an argument/i, "BAD_OPTION"],
];

export function refusalOf(argv: readonly string[], answer: CommandAnswer): Refusal {
  const message = failureWords(argv, answer);
  // It may have been submitted all the same; the next try finds it by its key.
  if (answer.failure !== null) return refuse("BUSY", message, true);
  const [, code = "DENIED"] = REFUSALS.find(([pattern]) => pattern.test(answer.stderr)) ?? [];
  return refuse(code, message, code === "BUSY");
}
