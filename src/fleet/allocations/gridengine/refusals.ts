import { answerLost, refuse } from "../check-spec.js";
import { type CommandAnswer, failureWords, mayHaveWorked } from "../command.js";
import type { Refusal, RefusalCode } from "../provider.js";

/** Messages of qsub when it refuses a job. The first match counts. */
const REFUSALS: readonly (readonly [RegExp, RefusalCode])[] = [
  [/commlib error|unable to (contact|send message)|try (again )?later|too many|max.*jobs/i, "BUSY"],
  [/unknown queue/i, "NO_TARGET"],
  [/no suitable queues|exceeds|cannot run/i, "TOO_BIG"],
  [/denied|not allowed|no permission|not permitted|access/i, "DENIED"],
  [/invalid|unknown|does not exist|missing|expected/i, "BAD_OPTION"],
];

/** The request was sent but no answer came, so the master may still accept the job. */
const NO_ANSWER = /timeout|failed receiving gdi|got read error/i;

export function refusalOf(argv: readonly string[], answer: CommandAnswer): Refusal {
  const message = failureWords(argv, answer);
  if (mayHaveWorked(answer) || NO_ANSWER.test(answer.stderr)) return answerLost(message);
  if (answer.failure !== null) return refuse("BUSY", message, true);
  const [, code = "DENIED"] = REFUSALS.find(([pattern]) => pattern.test(answer.stderr + answer.stdout)) ?? [];
  return refuse(code, message, code === "BUSY");
}
