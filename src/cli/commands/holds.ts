import type { InputOf } from "../../operations/client.js";
import type { HoldReport } from "../../operations/holds.js";
import { writeJson, writeLines } from "../channel.js";
import { lookAt } from "../look.js";
import type { Present } from "../presenters.js";
import { holdLines } from "../render/hold-lines.js";

/** Jobs that wait for somebody to decide, of one run or of all. */
export const holds: Present = async ({ input }, session, client) => {
  const { out, options } = session;
  const answer = await client.call("list_pending_failed_jobs", input as InputOf<"list_pending_failed_jobs">);
  const found = answer.items as readonly HoldReport[];
  if (options.json) writeJson(out, found);
  else if (found.length === 0) writeLines(out, ["no holds"]);
  else {
    const look = await lookAt(
      session,
      client,
      found.map(({ run_id }) => run_id),
    );
    writeLines(out, holdLines(found, look));
  }
  return 0;
};
