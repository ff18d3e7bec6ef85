import { constants } from "node:os";
import { getSystemErrorMap } from "node:util";
import { shellArgv } from "../../core/model/shell.js";
import type { ProcessExit, ProcessSpec } from "./process-host.js";

const SYSTEM_ERRORS = getSystemErrorMap();

const SIGNAL_NAMES = new Map<number, string>();
for (const [name, number] of Object.entries(constants.signals)) {
  // Some signals have two names; the first listed is the usual one.
  if (!SIGNAL_NAMES.has(number)) SIGNAL_NAMES.set(number, name);
}

const STATUS_BYTES = 4;
const TWO_TO_32 = 2 ** 32;
const BYTES_PER_KIB = 1024;
const BYTES_PER_BLOCK = 512;
const US_PER_MS = 1_000;

/**
 * What a launcher tells of an end: the status, and where it knows them the peak in KiB, the CPU time in microseconds, and
 * the blocks that were read from disks and written to them.
 */
export function readExit(fact: Buffer): ProcessExit {
  const exit = exitOfStatus(fact.readUInt32BE(0));
  if (fact.length === STATUS_BYTES) return exit;
  const peakMemoryBytes = readNumber(fact, STATUS_BYTES) * BYTES_PER_KIB;
  const cpuMs = Math.round(readNumber(fact, STATUS_BYTES + 8) / US_PER_MS);
  const readBytes = readNumber(fact, STATUS_BYTES + 16) * BYTES_PER_BLOCK;
  const writtenBytes = readNumber(fact, STATUS_BYTES + 24) * BYTES_PER_BLOCK;
  return {
    ...exit,
    usage: {
      peak_memory_bytes: peakMemoryBytes,
      cpu_ms: cpuMs,
      read_bytes: readBytes,
      written_bytes: writtenBytes,
    },
  };
}

/** Up to 2^53; as a BigInt it would cost more. */
function readNumber(fact: Buffer, at: number): number {
  return fact.readUInt32BE(at) * TWO_TO_32 + fact.readUInt32BE(at + 4);
}

/** Reads a status as wait(2) gives it. */
function exitOfStatus(status: number): ProcessExit {
  const signal = status & 0x7f;
  if (signal === 0) return { exitCode: status >> 8, signal: null };
  return { exitCode: null, signal: SIGNAL_NAMES.get(signal) ?? `SIG${signal}` };
}

/** The system's own sh goes by its name. */
function nameOf({ exec, shell }: ProcessSpec): string {
  const [program = ""] = typeof exec === "string" ? shellArgv(shell) : exec;
  return program === "/bin/sh" ? "sh" : program;
}

/** What the process failed at before it ran: entering its folder, or being executed. */
export type SpawnStage = "cwd" | "exec";

export function describeSpawnError(spec: ProcessSpec, errno: number, stage: SpawnStage): ProcessExit {
  const [code, text] = SYSTEM_ERRORS.get(-errno) ?? [`E${errno}`, `system error ${errno}`];
  return spawnFailure(spec, code, text, stage);
}

export function spawnFailure(spec: ProcessSpec, code: string, text: string, stage: SpawnStage): ProcessExit {
  const subject = stage === "cwd" ? `working folder ${spec.cwd}` : `command ${nameOf(spec)}`;
  return { exitCode: null, signal: null, spawnError: { code, message: `${subject}: ${text} (${code})` } };
}
