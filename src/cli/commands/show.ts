import type { Json } from "../../core/json.js";
import type { InputOf, OutputOf } from "../../operations/client.js";
import type { RunSummary } from "../../operations/run-summary.js";
import { writeJson, writeLines } from "../channel.js";
import { lookAt } from "../look.js";
import type { Present } from "../presenters.js";
import { runDetailLines } from "../render/run-details.js";

export const show: Present = async ({ input }, session, client) => {
  const { out, options } = session;
  const shown = await client.call("get_run", input as InputOf<"get_run">);
  if (options.json) writeJson(out, shown);
  else {
    const look = await lookAt(session, client, [shown.run_id]);
    writeLines(out, runDetailLines(summaryOf(shown), { ...shown, state: shown.state as Json }, look));
  }
  return 0;
};

/** What the renderers tell a run from. */
export function summaryOf(shown: OutputOf<"get_run">): RunSummary {
  const { summary, state: _state, diagnostics: _diagnostics, ...more } = shown;
  const { liveControl: _control, usage: _usage, left_alone: _left, ...report } = more;
  return { report, ...summary } as unknown as RunSummary;
}
