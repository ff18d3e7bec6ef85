import { collectStats } from "../../operations/collect-stats.js";
import { type Session, writeJson, writeLines } from "../channel.js";
import { statsLines } from "../render/stats-lines.js";
import { type RunReference, resolveRun } from "../run-reference.js";
import { withStore } from "../with-store.js";

export function stats(references: readonly RunReference[], session: Session): Promise<number> {
  const { out, options } = session;
  return withStore(session, async (store) => {
    const runIds: number[] = [];
    for (const reference of references) runIds.push(await resolveRun(store, reference));
    const found = await collectStats(store, runIds);
    if (options.json) writeJson(out, found);
    else writeLines(out, statsLines(found, out.width(), out.paint));
    return 0;
  });
}
