import { diagnosticsOf } from "../../operations/attempt-diagnostics.js";
import { readLog } from "../../operations/replayed-log.js";
import { reportRun, reportState } from "../../operations/run-report.js";
import { summariseRun } from "../../operations/run-summary.js";
import { type Session, writeJson, writeLines } from "../channel.js";
import { commandLine } from "../command-words.js";
import { runDetailLines } from "../render/run-details.js";
import { type RunReference, resolveRun } from "../run-reference.js";
import { withStore } from "../with-store.js";

export function show(reference: RunReference, session: Session): Promise<number> {
  const { out, options } = session;
  return withStore(session, async (store, outputDir) => {
    const runId = await resolveRun(store, reference);
    const report = await reportRun(store, runId);
    const state = await reportState(store, runId);
    if (options.json) {
      const diagnostics = await diagnosticsOf(report.jobs, readLog(store, runId));
      writeJson(out, { ...report, state, diagnostics });
    } else {
      const summary = await summariseRun(store, outputDir, report);
      const look = {
        paint: out.paint,
        width: out.width(),
        commandLine: (command: string) => commandLine(options, command),
      };
      writeLines(out, runDetailLines(summary, state, look));
    }
    return 0;
  });
}
