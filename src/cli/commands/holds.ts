import type { InputOf } from "../../operations/client.js";
import { writeJson, writeLines } from "../channel.js";
import { lookAt } from "../look.js";
import type { Present } from "../presenters.js";
import { holdLines } from "../render/hold-lines.js";

/** Jobs that wait for somebody to decide, of one run or of all. */
export const holds: Present = async ({ input }, session, client) => {
  const { out, options } = session;
  const wanted = input as InputOf<"list_pending_failed_jobs">;
  const { items: found } = await client.call("list_pending_failed_jobs", wanted);
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
