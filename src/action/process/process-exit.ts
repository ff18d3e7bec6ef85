import { constants } from "node:os";
import { getSystemErrorMap } from "node:util";
import type { ProcessExit, ProcessSpec } from "./process-host.js";

const SYSTEM_ERRORS = getSystemErrorMap();

const SIGNAL_NAMES = new Map<number, string>();
for (const [name, number] of Object.entries(constants.signals)) {
  // Some signals have two names; the first listed is the usual one.
  if (!SIGNAL_NAMES.has(number)) SIGNAL_NAMES.set(number, name);
}

/** Reads a status as wait(2) gives it. */
export function exitOfStatus(status: number): ProcessExit {
  const signal = status & 0x7f;
  if (signal === 0) return { exitCode: status >> 8, signal: null };
  return { exitCode: null, signal: SIGNAL_NAMES.get(signal) ?? `SIG${signal}` };
}

/** What the process failed at before it ran: entering its folder, or being executed. */
export type SpawnStage = "cwd" | "exec";

export function describeSpawnError(spec: ProcessSpec, errno: number, stage: SpawnStage): ProcessExit {
  const [code, text] = SYSTEM_ERRORS.get(-errno) ?? [`E${errno}`, `system error ${errno}`];
  return spawnFailure(spec, code, text, stage);
}

export function spawnFailure(spec: ProcessSpec, code: string, text: string, stage: SpawnStage): ProcessExit {
  const subject =
    stage === "cwd"
      ? `working folder ${spec.cwd}`
      : `command ${typeof spec.exec === "string" ? "sh" : spec.exec[0]}`;
  return { exitCode: null, signal: null, spawnError: { code, message: `${subject}: ${text} (${code})` } };
}
