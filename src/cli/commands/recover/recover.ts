import { setTimeout as delay } from "node:timers/promises";
import { DarumaError, type ErrorCode } from "../../../core/errors/errors.js";
import type { Settings } from "../../../file/settings/settings.js";
import type { Daruma } from "../../../host/daruma.js";
import type { Client, InputOf, OutputOf } from "../../../operations/client.js";
import { ownerOf } from "../../../tell/lookup/run-owner.js";
import { goesOnWith, programName, type RunProgram } from "../../../tell/lookup/run-program.js";
import type { Present } from "../../declare/declaration.js";
import { type RunReference, resolveRun } from "../../declare/typed-names.js";
import { existingStore } from "../../existing-store.js";
import { followRun } from "../../follow-run.js";
import { openHere } from "../../open-here.js";
import { ServerRun } from "../../remote/follow-server-run.js";
import { isServersRun } from "../../remote/who-goes-on.js";
import { refuseLocalFlags, refuseServerFlags } from "../../server/server-flags.js";
import { type Session, writeJson, writeLines } from "../../terminal/channel.js";
import { EXIT } from "../../terminal/exit-codes.js";
import { refuseReports } from "../../write-reports.js";
import { recoveryLines } from "./recovery-lines.js";
import { type RecoverFlags, Rounds, type RoundsPlan, roundsPlan } from "./rounds.js";

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

const DEFAULT_ROUNDS = 1;

/** Recovers a failed or held run and continues it. */
export const recover: Present = async ({ input, flags: given }, session, client) => {
  const flags = given as unknown as RecoverFlags;
  const { run_id, dry_run, key: _key, ...policy } = input as InputOf<"recover_run">;
  if (dry_run === true) {
    const found = await client.call("recover_run", input as InputOf<"recover_run">);
    tell(session, found, ["dry run; nothing changed", ...recoveryLines(found)]);
    return EXIT.completed;
  }
  const plan = roundsPlan(policy, flags, session.options, DEFAULT_ROUNDS);
  const reference = run_id as RunReference;
  if (session.options.server !== undefined) {
    refuseLocalFlags(flags);
    if (flags.detach === true) {
      refuseRounds(flags, "with --detach nobody stays to run them");
      return recoverAlone(session, client, input as InputOf<"recover_run">, flags);
    }
    return getUpThere(session, client, reference, { flags, plan, first: "recover" });
  }
  refuseServerFlags(flags);
  if (await isAtWork(session, reference)) {
    refuseRounds(flags, "another process has the run and continues it");
    return recoverAlone(session, client, input as InputOf<"recover_run">, flags);
  }
  const { needs_program: program } = await client.call("get_run", { run_id: reference, jobs: "none" });
  if (program !== null) {
    refuseRounds(flags, `only its program continues the run: ${programName(program)}`);
    return recoverAlone(session, client, input as InputOf<"recover_run">, flags, program);
  }
  const { daruma, channels } = await openHere(session, reference, flags);
  return getUpHere(session, daruma, reference, { flags, channels, plan, first: "recover" });
};

function refuseRounds({ recoveryHook, maxRounds }: RecoverFlags, because: string): void {
  if (recoveryHook === undefined && maxRounds === undefined) return;
  throw new DarumaError("USAGE", `--recovery-hook and --max-rounds do not apply: ${because}`, {
    hint: "Leave them out, or use `daruma watch RUN --recover`, which waits for the end of the run.",
  });
}

/** Recovers a run that another process continues. */
async function recoverAlone(
  session: Session,
  client: Client,
  input: InputOf<"recover_run">,
  { report: reports }: RecoverFlags,
  program: RunProgram | null = null,
): Promise<number> {
  const done = await client.call("recover_run", input);
  const after = program === null ? [] : [`run ${done.run_id} ${goesOnWith(program, done.run_id)}`];
  tell(session, done, [...recoveryLines(done), ...after]);
  return refuseReports(session, { runId: done.run_id, reports, exitCode: EXIT.completed });
}

async function isAtWork({ options }: Session, reference: RunReference): Promise<boolean> {
  const store = await existingStore(options);
  try {
    return (await ownerOf(store, await resolveRun(store, reference))) !== null;
  } finally {
    await store.close();
  }
}

function tell({ out, options }: Session, answer: OutputOf<"recover_run">, lines: readonly string[]): void {
  if (options.json) writeJson(out, answer);
  else if (!options.quiet) writeLines(out, lines);
}
