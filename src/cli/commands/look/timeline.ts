import type { InputOf } from "../../../operations/client.js";
import { durationText } from "../../../tell/words/duration-text.js";
import type { Present } from "../../declare/presenter.js";
import { tableLines } from "../../render/table.js";
import { writeJson, writeLines } from "../../terminal/channel.js";

const HEADER = ["step", "began", "attempts", "failed", "at work", "waiting"];

/** Shows when the steps of a run were at work. */
export const timeline: Present = async ({ input }, { out, options }, client) => {
  const answer = await client.call("get_timeline", input as InputOf<"get_timeline">);
  if (options.json) writeJson(out, answer);
  else if (answer.rows.length === 0) writeLines(out, ["no step has begun"]);
  else
    writeLines(
      out,
      tableLines(
        HEADER,
        answer.rows.map(({ step, jobs, from_ms, attempts, failed, busy_ms, waited_ms }) => [
          jobs > 1 ? `${step} (${jobs} jobs)` : step,
          from_ms === null ? "" : `after ${durationText(from_ms)}`,
          String(attempts),
          String(failed),
          durationText(busy_ms),
          waited_ms === 0 ? "" : durationText(waited_ms),
        ]),
        out.width(),
      ),
    );
  return 0;
};
