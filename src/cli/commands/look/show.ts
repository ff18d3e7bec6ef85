import type { Json } from "../../../core/text/json.js";
import type { InputOf, OutputOf } from "../../../operations/client.js";
import type { RunReport } from "../../../tell/run-report.js";
import { deadLettersAmong, type RunSummary } from "../../../tell/run-summary.js";
import { commandLine } from "../../declare/command-words.js";
import type { Present } from "../../declare/declaration.js";
import { lookAt } from "../../look.js";
import { pastLine } from "../../render/clock-time.js";
import { withCommands } from "../../render/hold-lines.js";
import { runDetailLines } from "../../render/run-details.js";
import { writeJson, writeLines } from "../../terminal/channel.js";

export const show: Present = async ({ input, flags }, session, client) => {
  const { out, options } = session;
  const shown = await client.call("get_run", input as InputOf<"get_run">);
  if (options.json) {
    const holds = shown.summary.holds.map((each) =>
      withCommands(each, (command) => commandLine(options, command)),
    );
    writeJson(out, { ...shown, summary: { ...shown.summary, holds } });
  } else {
    const look = await lookAt(session, client, [shown.run_id]);
    if (shown.at !== null) writeLines(out, [pastLine(shown.at)]);
    const beside = { ...shown, state: shown.state as Json };
    writeLines(out, runDetailLines(summaryOf(shown), beside, look, flags.full === true));
  }
  return 0;
};

/** The part of a shown run that the renderers use. */
export function summaryOf(shown: OutputOf<"get_run">): RunSummary {
  const { summary, state: _state, diagnostics: _diagnostics, ...more } = shown;
  const { live_control: _control, usage: _usage, left_alone: _left, at: _at, ...rest } = more;
  const { recoveries: _recoveries, waits_for: _waits, version: _version, ...others } = rest;
  const { loops: _loops, paused_by: _pausedBy, ...report } = others;
  const { jobs } = report as unknown as RunReport;
  return { report, ...summary, deadLetters: deadLettersAmong(jobs) } as unknown as RunSummary;
}
