import { setTimeout as delay } from "node:timers/promises";
import { DarumaError } from "../../../core/errors/errors.js";
import type { Client } from "../../../operations/client.js";
import { ownerOf } from "../../../tell/lookup/run-owner.js";
import { type RunReference, resolveRun } from "../../declare/typed-names.js";
import { existingStore } from "../../existing-store.js";
import { openHere } from "../../open-here.js";
import { ServerRun } from "../../remote/follow-server-run.js";
import { refuseLocalFlags, refuseServerFlags } from "../../server/server-flags.js";
import { type Session, writeLines } from "../../terminal/channel.js";
import { EXIT } from "../../terminal/exit-codes.js";
import { getUpHere, getUpThere } from "./recover.js";
import { type RecoverFlags, type RoundsPlan, roundsPlan } from "./rounds.js";

export interface WatchFlags extends RecoverFlags {
  readonly recover?: boolean;
  readonly memoryFactor?: string;
  readonly maxMemory?: string;
  readonly runtimeFactor?: string;
  readonly maxRuntime?: string;
  readonly retryUnknown?: boolean;
  readonly reason?: string;
}

const DEFAULT_ROUNDS = 3;
const DEFAULT_REASON = "watch --recover";
/** A process that has ended its run needs a moment to release it. */
const RELEASE_POLL_MS = 50;
const RELEASE_POLLS = 200;

/** `daruma watch RUN`: follows a run until it rests. With --recover it is then recovered, up to a limit. */
export async function watchRun(
  reference: RunReference,
  flags: WatchFlags,
  session: Session,
  client: Client,
): Promise<number> {
  const { options } = session;
  if (flags.recover !== true) refuseRecoverFlags(flags);
  const plan = roundsPlan(policyOf(flags), flags, options, flags.recover === true ? DEFAULT_ROUNDS : 0);
  if (options.server !== undefined) {
    refuseLocalFlags(flags);
    return getUpThere(session, client, reference, { flags, plan, first: "follow" });
  }
  refuseServerFlags(flags);
  if (flags.recover !== true) return look(session, client, reference, flags);
  if (!(await untilNobodyRunsIt(session, client, reference, flags))) return EXIT.interrupted;
  const { daruma, channels } = await openHere(session, reference, flags);
  return getUpHere(session, daruma, reference, { flags, channels, plan, first: "follow" });
}

/** Only watches: nothing is run or changed. */
async function look(
  session: Session,
  client: Client,
  reference: RunReference,
  flags: WatchFlags,
): Promise<number> {
  const { run_id } = await client.call("get_run_definition", { run_id: reference });
  const run = new ServerRun(session, client, run_id, flags);
  await run.catchUp();
  return run.follow();
}

function policyOf(flags: WatchFlags): RoundsPlan["policy"] {
  const { memoryFactor, maxMemory, runtimeFactor, maxRuntime, retryUnknown, reason } = flags;
  const given = {
    memory_factor: memoryFactor,
    max_memory: maxMemory,
    runtime_factor: runtimeFactor,
    max_runtime: maxRuntime,
    retry_unknown: retryUnknown,
    reason: reason ?? DEFAULT_REASON,
  };
  return Object.fromEntries(
    Object.entries(given).filter(([, value]) => value !== undefined),
  ) as RoundsPlan["policy"];
}

const ONLY_WITH_RECOVER = [
  ...["recoveryHook", "maxRounds", "agent", "agentTimeout", "memoryFactor", "maxMemory"],
  ...["runtimeFactor", "maxRuntime", "retryUnknown"],
] as const satisfies readonly (keyof WatchFlags)[];

function refuseRecoverFlags(flags: WatchFlags): void {
  const idle = ONLY_WITH_RECOVER.find((flag) => flags[flag] !== undefined);
  if (idle === undefined) return;
  const flag = idle.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  throw new DarumaError("USAGE", `--${flag} needs --recover`, { hint: "Add --recover." });
}

/** Waits until no process owns the run. Returns false if this process was interrupted before that. */
async function untilNobodyRunsIt(
  session: Session,
  client: Client,
  reference: RunReference,
  flags: WatchFlags,
): Promise<boolean> {
  const store = await existingStore(session.options);
  try {
    const runId = await resolveRun(store, reference);
    if ((await ownerOf(store, runId)) === null) return true;
    const run = new ServerRun(session, client, runId, flags);
    await run.catchUp();
    if (!session.options.quiet)
      writeLines(session.err, [`watching run ${runId}, which another process runs`]);
    if (!(await run.rested())) return false;
    for (let poll = 0; poll < RELEASE_POLLS && (await ownerOf(store, runId)) !== null; poll += 1)
      await delay(RELEASE_POLL_MS);
    return true;
  } finally {
    await store.close();
  }
}
