import { oneLine } from "../../../core/text/plain-text.js";
import type { InputOf } from "../../../operations/client.js";
import { durationText } from "../../../tell/words/duration-text.js";
import type { Present } from "../../declare/presenter.js";
import { clockTime } from "../../render/clock-time.js";
import { tableLines } from "../../render/table.js";
import { writeJson, writeLines } from "../../terminal/channel.js";

const HEADER = ["step", "flaky", "jobs", "rate", "cost", "trend", "last run"];

/** Lists steps that passed only because they were retried. */
export const flakes: Present = async ({ input }, { out, options }, client) => {
  const answer = await client.call("list_flakes", input as InputOf<"list_flakes">);
  if (options.json) writeJson(out, answer);
  else if (answer.items.length === 0)
    writeLines(out, [`no step has passed by retry alone since ${clockTime(answer.since)} UTC`]);
  else
    writeLines(
      out,
      tableLines(
        HEADER,
        answer.items.map((item) => [
          oneLine(`${item.workflow}/${item.step}`),
          String(item.flaky),
          String(item.jobs),
          `${Math.round(item.rate * 100)} %`,
          durationText(item.cost_ms),
          item.trend,
          String(item.last_run),
        ]),
        out.width(),
      ),
    );
  return 0;
};
