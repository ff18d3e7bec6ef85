import type { InputOf } from "../../../operations/client.js";
import type { Present } from "../../declare/presenter.js";
import { writeJson, writeLines } from "../../terminal/channel.js";
import { failureLines } from "../look/failures.js";

/** Records a note about a failure and prints its new state. */
export const triage: Present = async ({ input }, { out, options }, client) => {
  const answer = await client.call("triage_failure", input as InputOf<"triage_failure">);
  if (options.json) writeJson(out, answer);
  else writeLines(out, answer.items.flatMap(failureLines));
  return 0;
};
