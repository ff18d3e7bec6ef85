import { randomUUID } from "node:crypto";
import { DarumaError } from "../../../core/errors/errors.js";
import { COMMAND_LINE, operateThrough } from "../../../host/local-operate.js";
import { DEFAULT_REASON, redacted } from "../../../operations/operator-words.js";
import { nameOfPrincipal, putCommand } from "../../../operations/put-command.js";
import type { Store } from "../../../store/store.js";
import { ownerOf } from "../../../tell/lookup/run-owner.js";
import { programOf } from "../../../tell/lookup/run-program.js";
import { requireRun } from "../../../tell/lookup/run-reference.js";
import { type RunReference, resolveRun } from "../../declare/typed-names.js";
import { existingStore } from "../../existing-store.js";
import { followRun } from "../../follow-run.js";
import { tellChangedFile } from "../../go-on-here.js";
import { loadFlows } from "../../load-flows.js";
import { openHere } from "../../open-here.js";
import { printLifted } from "../../print-change.js";
import { refuseServerFlags } from "../../server/server-flags.js";
import type { Session } from "../../terminal/channel.js";
import type { ResumeFlags } from "./run-flags.js";

/**
 * Continues a run whose process is gone, or lifts its pause. For a finished run it prints the result again. A run whose
 * process still lives goes on there, and one that needs its program goes on with that program.
 */
export async function resume(reference: RunReference, flags: ResumeFlags, session: Session): Promise<number> {
  if (session.options.server !== undefined && flags.flows !== undefined)
    throw new DarumaError("USAGE", "--flows is for runs without a server");
  if (session.options.server !== undefined)
    return (await import("../../remote/follow-server-run.js")).resumeRemotely(session, reference, flags);
  refuseServerFlags(flags);
  const flows = flags.flows === undefined ? [] : await loadFlows(flags.flows);
  const store = await existingStore(session.options);
  const lifted = await liftWhereOthersGoOn(store, reference, flags, session).catch(async (error: unknown) => {
    await store.close();
    throw error;
  });
  if (lifted) {
    await store.close();
    return 0;
  }
  const { daruma, channels } = await openHere(session, reference, flags, store, flows);
  return followRun(session, daruma, { ...flags, channels }, async () => {
    const runId = await resolveRun(daruma.store, reference);
    await tellChangedFile(session, daruma, runId);
    const reason = await redacted(daruma.store, runId, flags.reason ?? DEFAULT_REASON);
    return daruma.takeUp(runId, { reason, key: flags.key ?? null, by: nameOfPrincipal(COMMAND_LINE) });
  });
}

/**
 * Lifts a pause if somebody else will then continue the run: its owner (a paused run with running attempts has one), or
 * the program whose functions are its steps. Returns false if this process has to.
 */
async function liftWhereOthersGoOn(
  store: Store,
  reference: RunReference,
  flags: ResumeFlags,
  session: Session,
): Promise<boolean> {
  const runId = await resolveRun(store, reference);
  const row = await requireRun(store, runId);
  const program = flags.flows === undefined ? programOf(row) : null;
  if (row.status !== "paused" || (program === null && (await ownerOf(store, runId)) === null)) return false;
  const { key = randomUUID() } = flags;
  const reason = await redacted(store, runId, flags.reason ?? DEFAULT_REASON);
  const target = { store, operate: operateThrough(store), principal: COMMAND_LINE };
  const { run } = await putCommand(target, runId, { type: "run.unpause", reason, key });
  // The pause is lifted, but the owner has released the run meanwhile, so this process continues it.
  if (run.owner === null && program === null) return false;
  printLifted(session, { ...run, action: "resume", reason, key }, { managed: row.managed, program });
  return true;
}
