import { listHolds } from "../../operations/holds.js";
import { type Session, writeJson, writeLines } from "../channel.js";
import { commandLine } from "../command-words.js";
import { holdLines } from "../render/hold-lines.js";
import { type RunReference, resolveRun } from "../run-reference.js";
import { withStore } from "../with-store.js";

/** Jobs that wait for somebody to decide, of one run or of all. */
export function holds(reference: RunReference | undefined, session: Session): Promise<number> {
  const { out, options } = session;
  return withStore(session, async (store) => {
    const runId = reference === undefined ? undefined : await resolveRun(store, reference);
    const found = await listHolds(store, runId);
    if (options.json) writeJson(out, found);
    else if (found.length === 0) writeLines(out, ["no holds"]);
    else
      writeLines(
        out,
        holdLines(found, { paint: out.paint, commandLine: (command) => commandLine(options, command) }),
      );
    return 0;
  });
}
