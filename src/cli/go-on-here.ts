import { followRun } from "./follow-run.js";
import { openHere } from "./open-here.js";
import type { FollowFlags } from "./server/server-flags.js";
import { tellChangedFile } from "./tell-changed-file.js";
import type { Session } from "./terminal/channel.js";

export interface GoOnFlags extends Pick<FollowFlags, "maxParallel" | "verbose" | "strict"> {
  /** False: the command is only recorded. */
  readonly resume?: boolean;
}

/** Go on, in its own folder, with a run that nobody runs. */
export async function goOnHere(session: Session, runId: number, flags: GoOnFlags): Promise<number> {
  const { daruma, channels } = await openHere(session, runId, flags);
  await tellChangedFile(session, daruma, runId);
  return followRun(session, daruma, { ...flags, channels }, () => daruma.takeUp(runId));
}
