import { answerLost, refuse } from "../check-spec.js";
import { type CommandAnswer, failureWords, mayHaveWorked } from "../command.js";
import type { Refusal, RefusalCode } from "../provider.js";

/** Messages of sbatch when it refuses a job. The first match counts. */
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

/** The request was sent but no answer came: sbatch gives up after MessageTimeout, while the controller goes on. */
const NO_ANSWER = /timed out|(send|receive|shutdown) failure|zero bytes|unexpected message/i;

export function refusalOf(argv: readonly string[], answer: CommandAnswer): Refusal {
  const message = failureWords(argv, answer);
  if (mayHaveWorked(answer) || NO_ANSWER.test(answer.stderr)) return answerLost(message);
  if (answer.failure !== null) return refuse("BUSY", message, true);
  const [, code = "DENIED"] = REFUSALS.find(([pattern]) => pattern.test(answer.stderr)) ?? [];
  return refuse(code, message, code === "BUSY");
}
