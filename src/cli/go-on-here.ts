import { DarumaError } from "../core/errors/errors.js";
import type { Client } from "../operations/client.js";
import { ownerOf, type RunOwner } from "../tell/lookup/run-owner.js";
import { followRun } from "./follow-run.js";
import { openHere } from "./open-here.js";
import type { FollowFlags } from "./server/server-flags.js";
import { tellChangedFile } from "./tell-changed-file.js";
import { type Session, writeLines } from "./terminal/channel.js";

export interface GoOnFlags extends Pick<FollowFlags, "maxParallel" | "verbose" | "report" | "strict"> {
  /** False if the command is only recorded. */
  readonly resume?: boolean;
}

/** Continues a run that no process runs, in its own folder. If another process was faster, follows it to its end. */
export async function goOnHere(
  session: Session,
  client: Client,
  runId: number,
  flags: GoOnFlags,
): Promise<number> {
  const { daruma, channels } = await openHere(session, runId, flags);
  await tellChangedFile(session, daruma, runId);
  let runner = null as RunOwner | null;
  try {
    return await followRun(session, daruma, { ...flags, channels }, () =>
      daruma.takeUp(runId).catch(async (error: unknown) => {
        if (error instanceof DarumaError && error.code === "RUN_OWNED")
          runner = await ownerOf(daruma.store, runId);
        throw error;
      }),
    );
  } catch (error) {
    if (runner === null) throw error;
    return followThere(session, client, { runId, runner, flags });
  }
}

async function followThere(
  session: Session,
  client: Client,
  { runId, runner, flags }: { readonly runId: number; readonly runner: RunOwner; readonly flags: GoOnFlags },
): Promise<number> {
  const { ServerRun } = await import("./remote/follow-server-run.js");
  const { json, quiet } = session.options;
  if (!json && !quiet) writeLines(session.out, [`process ${runner.pid} continues it`]);
  const run = new ServerRun(session, client, runId, flags);
  // Past events are not printed again.
  await run.catchUp();
  return run.follow();
}
