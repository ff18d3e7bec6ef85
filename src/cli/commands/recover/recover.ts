import { DarumaError } from "../../../core/errors/errors.js";
import type { Client, InputOf, OutputOf } from "../../../operations/client.js";
import { ownerOf } from "../../../tell/lookup/run-owner.js";
import { goesOnWith, programName, type RunProgram } from "../../../tell/lookup/run-program.js";
import type { Present } from "../../declare/presenter.js";
import { type RunReference, resolveRun } from "../../declare/run-reference.js";
import { existingStore } from "../../existing-store.js";
import { openHere } from "../../open-here.js";
import { refuseLocalFlags, refuseServerFlags } from "../../server/server-flags.js";
import { type Session, writeJson, writeLines } from "../../terminal/channel.js";
import { EXIT } from "../../terminal/exit-codes.js";
import { refuseReports } from "../../write-reports.js";
import { getUpHere, getUpThere } from "./get-up.js";
import { type RecoverFlags, roundsPlan } from "./recover-flags.js";
import { recoveryLines } from "./recovery-lines.js";

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
