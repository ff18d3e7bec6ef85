import { loadRun } from "../../engine/load-run.js";
import { explain } from "../../operations/explain.js";
import { type Session, writeJson, writeLines } from "../channel.js";
import { commandLine } from "../command-words.js";
import { type RunReference, resolveRun } from "../run-reference.js";
import { withStore } from "../with-store.js";

export function explainRun(
  reference: RunReference,
  step: string | undefined,
  session: Session,
): Promise<number> {
  return withStore(session, async (store) => {
    const runId = await resolveRun(store, reference);
    const { run } = await loadRun(store, runId);
    const lines = explain(run, await store.readEvents(runId), {
      ...(step === undefined ? {} : { step }),
      commandLine: (command) => commandLine(session.options, command),
    });
    if (session.options.json) writeJson(session.out, { run_id: runId, step: step ?? null, lines });
    else writeLines(session.out, lines);
    return 0;
  });
}
