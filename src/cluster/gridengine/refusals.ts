import { refuse } from "../check-spec.js";
import { type CommandAnswer, failureWords } from "../command.js";
import type { Refusal, RefusalCode } from "../provider.js";

/** What qsub says when it does not take a job. The first that matches counts. */
const REFUSALS: readonly (readonly [RegExp, RefusalCode])[] = [
  [/commlib error|unable to (contact|send message)|try (again )?later|too many|max.*jobs/i, "BUSY"],
  [/unknown queue/i, "NO_TARGET"],
  [/no suitable queues|exceeds|cannot run/i, "TOO_BIG"],
  [/denied|not allowed|no permission|not permitted|access/i, "DENIED"],
  [/invalid|unknown|does not exist|missing|expected/i, "BAD_OPTION"],
];

export function refusalOf(argv: readonly string[], answer: CommandAnswer): Refusal {
  const message = failureWords(argv, answer);
  // It may have been submitted all the same; the next try finds it by its key.
  if (answer.failure !== null) return refuse("BUSY", message, true);
  const [, code = "DENIED"] = REFUSALS.find(([pattern]) => pattern.test(answer.stderr + answer.stdout)) ?? [];
  return refuse(code, message, code === "BUSY");
}
