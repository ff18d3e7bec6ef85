import { setTimeout as delay } from "node:timers/promises";
import { DarumaError, type ErrorCode } from "../../../core/errors/errors.js";
import type { Settings } from "../../../file/settings/settings.js";
import type { Daruma } from "../../../host/daruma.js";
import type { Client } from "../../../operations/client.js";
import { type RunReference, resolveRun } from "../../declare/run-reference.js";
import { followRun } from "../../follow-run.js";
import { ServerRun } from "../../remote/follow-server-run.js";
import { isServersRun } from "../../remote/who-goes-on.js";
import { type Session, writeLines } from "../../terminal/channel.js";
import type { RecoverFlags } from "./recover-flags.js";
import { Rounds, type RoundsPlan } from "./rounds.js";

interface Asked {
  readonly flags: RecoverFlags;
  readonly plan: RoundsPlan;
  /** Whether the run is recovered at once, or first followed until it rests. */
  readonly first: "recover" | "follow";
}

/** Recovers a run that goes on in this process. */
export function getUpHere(
  session: Session,
  daruma: Daruma,
  reference: RunReference,
  { flags, channels, plan, first }: Asked & Pick<Settings, "channels">,
): Promise<number> {
  return followRun(session, daruma, { ...flags, channels }, async (say) => {
    const runId = await resolveRun(daruma.store, reference);
    const rounds = new Rounds((name, input) => daruma.call(name, input), plan, say);
    const ended = async (): Promise<void> => {
      if (first === "recover" && !(await rounds.next(runId))) return;
      do await (await daruma.takeUp(runId)).ended;
      while (await rounds.next(runId));
    };
    return { runId, ended: ended() };
  });
}

/** Recovers a run that goes on at a server: this process only watches it and requests its recovery. */
export async function getUpThere(
  session: Session,
  client: Client,
  reference: RunReference,
  { flags, plan, first }: Asked,
): Promise<number> {
  const { run_id } = await client.call("get_run_definition", { run_id: reference });
  const say = (text: string): void => {
    if (!session.options.quiet) writeLines(session.err, [text]);
  };
  const patient: Client = {
    call: (name, input) => patiently(() => client.call(name, input)),
    stream: (name, input, signal) => client.stream(name, input, signal),
    close: () => client.close(),
  };
  const rounds = new Rounds(patient.call, plan, say);
  const again = async (): Promise<boolean> => {
    if (plan.maxRounds === 0 || !(await rounds.next(run_id))) return false;
    if (!(await isServersRun(patient, session.options, run_id)))
      await patient.call("control_run", { run_id, action: "resume", reason: plan.policy.reason });
    return true;
  };
  const run = new ServerRun(session, patient, run_id, flags);
  // Past events are not printed again.
  await run.catchUp();
  if (first === "recover") await again();
  return run.follow(again);
}

/** Waits for a server that is being restarted, as its streams do. */
async function patiently<Answer>(call: () => Promise<Answer>): Promise<Answer> {
  const until = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await call();
    } catch (error) {
      const isOutage = error instanceof DarumaError && OUTAGES.has(error.code);
      if (!isOutage || performance.now() > until) throw error;
    }
    await delay(RETRY_MS);
  }
}

const OUTAGES: ReadonlySet<ErrorCode> = new Set<ErrorCode>(["SERVER_UNREACHABLE", "SERVER_STOPPING"]);
const PATIENCE_MS = 60_000;
const RETRY_MS = 250;
