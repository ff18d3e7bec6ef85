import { hostname } from "node:os";
import { resolve } from "node:path";
import { DarumaError } from "../../../core/errors/errors.js";
import type { AttemptPlace } from "../../../core/model/worker-names.js";
import { MAX_DURATION_MS, parseDuration, parseMemorySize } from "../../../file/read/amounts.js";
import { allocationName, placeName } from "../../../fleet/desk/protocol.js";
import { runRemoteWorker } from "../../../fleet/remote/remote-worker.js";
import { ServerRefusal } from "../../../fleet/remote/server-client.js";
import type { Stay } from "../../../fleet/remote/worker-life.js";
import { workerActions } from "../../../run/action/built-in-actions.js";
import { systemClock } from "../../../run/engine/clock.js";
import { createProcessHost } from "../../../run/process/create-process-host.js";
import { withinOpenFiles } from "../../../run/process/open-file-limit.js";
import { createSandbox } from "../../../run/sandbox/quickjs-sandbox.js";
import { type Machine, readMachine } from "../../../run/worker/machine/machine.js";
import { outlivePipes } from "../../terminal/broken-pipe.js";
import { type Session, writeLines } from "../../terminal/channel.js";
import { EXIT } from "../../terminal/exit-codes.js";
import { endAtOnce } from "../../terminal/signals.js";
import { readTokenFile } from "./token-file.js";

const MAX_GPUS = 1_000;

export interface WorkerFlags {
  readonly name?: string;
  readonly slots?: number;
  readonly cpus?: number;
  /** A size such as `8g`. */
  readonly memory?: string;
  /** A number such as `2`, or ids such as `0,3`. */
  readonly gpus?: string;
  /** A list such as `gpu,linux`. */
  readonly tags?: string;
  readonly tokenFile?: string;
  /** A duration such as `10m`. */
  readonly lifetime?: string;
  readonly drainBefore?: string;
  readonly idleExit?: string;
  /** An allocation such as `slurm/1234`. */
  readonly allocation?: string;
  readonly restart?: number;
  readonly node?: string;
}

/** Executes attempts for a server until it is stopped. */
export async function worker(flags: WorkerFlags, session: Session): Promise<number> {
  outlivePipes();
  const { options } = session;
  const servers = listOf(options.server);
  if (servers.length === 0)
    throw new DarumaError("USAGE", "a worker needs the address of its server", {
      hint: "Add --server URL, or set DARUMA_SERVER. Several addresses, separated by commas, are tried in turn.",
    });
  for (const server of servers) checkAddress(server);
  const name = flags.name ?? defaultName();
  const log = (line: string): void => {
    if (!options.quiet) writeLines(session.err, [`${new Date().toISOString()} ${name}: ${line}`]);
  };
  const machine = readMachine();
  const cpus = flags.cpus ?? machine.cpus;
  const processes = createProcessHost();
  const sandbox = createSandbox();
  const { drain, end } = stopSignals(log);
  const forgetScript = flags.allocation === undefined ? () => {} : watchScript(log, drain, end);
  try {
    await runRemoteWorker({
      servers,
      token: flags.tokenFile === undefined ? (options.token ?? null) : readTokenFile(flags.tokenFile),
      name,
      slots: withinOpenFiles(flags.slots ?? cpus),
      cpus,
      memoryBytes: flags.memory === undefined ? machine.memoryBytes : bytesOf(flags.memory),
      gpus: flags.gpus === undefined ? machine.gpus : gpusOf(flags.gpus, machine),
      nodes: machine.nodes,
      tags: listOf(flags.tags),
      at: placeOf(flags, machine),
      stay: stayOf(flags),
      actions: workerActions({ processes, sandbox }),
      outputDir: resolve(options.outputDir),
      clock: systemClock,
      log,
      drain: drain.signal,
      end: end.signal,
      processes,
    });
  } catch (error) {
    throw error instanceof ServerRefusal ? told(error) : error;
  } finally {
    forgetScript();
    await Promise.all([processes.close(), sandbox.close()]);
  }
  return EXIT.completed;
}

/**
 * Where the worker runs. Missing flags are read from the scheduler's environment. A name that no server accepts is left
 * out.
 */
function placeOf(flags: WorkerFlags, machine: Machine): AttemptPlace {
  const { node = machine.node, allocation = machine.allocation, restart = machine.restart } = flags;
  for (const [flag, value, schema] of [
    ["--node", flags.node, placeName],
    ["--allocation", flags.allocation, allocationName],
  ] as const)
    if (value !== undefined && !schema.safeParse(value).success)
      throw new DarumaError("USAGE", `invalid ${flag} ${value}`, {
        hint:
          flag === "--node" ? "Write the name of a machine." : "Write it as CLUSTER/ID, such as slurm/1234.",
      });
  return {
    node: placeName.safeParse(node).success ? node : null,
    allocation: allocationName.safeParse(allocation).success ? allocation : null,
    restart: allocation === null ? null : (restart ?? 0),
  };
}

function stayOf({ lifetime, drainBefore, idleExit }: WorkerFlags): Stay {
  return {
    lifetimeMs: durationOf("--lifetime", lifetime),
    drainBeforeMs: durationOf("--drain-before", drainBefore),
    idleExitMs: durationOf("--idle-exit", idleExit),
  };
}

function durationOf(flag: string, text: string | undefined): number | null {
  const ms = text === undefined ? null : parseDuration(text);
  if (text === undefined || (ms !== null && ms <= MAX_DURATION_MS)) return ms;
  throw new DarumaError("USAGE", `invalid ${flag} ${text}`, {
    hint: "Write a duration such as 90s, 10m or PT2H, at most 24.8 days.",
  });
}

/** The first signal lets running attempts finish, the second ends them, and the third ends this process at once. */
function stopSignals(log: (line: string) => void): {
  readonly drain: AbortController;
  readonly end: AbortController;
} {
  const [drain, end] = [new AbortController(), new AbortController()];
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(name, () => {
      if (end.signal.aborted) return endAtOnce();
      log(
        drain.signal.aborted
          ? `${name} again: ending the running attempts`
          : `${name}: finishing the running attempts`,
      );
      (drain.signal.aborted ? end : drain).abort();
    });
  }
  return { drain, end };
}

const SCRIPT_POLL_MS = 2_000;

/**
 * Stops the worker when its script is gone. The batch system may overlook such a worker, which has no right to its node
 * any more.
 */
function watchScript(log: (line: string) => void, ...stops: readonly AbortController[]): () => void {
  const script = process.ppid;
  let cancel = (): void => {};
  const look = (): void => {
    if (process.ppid === script) cancel = systemClock.after(SCRIPT_POLL_MS, look);
    else {
      log("the script of its allocation is gone: ending the running attempts");
      for (const stop of stops) stop.abort();
    }
  };
  look();
  return () => cancel();
}

function told(refusal: ServerRefusal): Error {
  if (refusal.code === null) return refusal;
  return new DarumaError(refusal.code, refusal.message, { cause: refusal });
}

/** The worker's default name, which is unique to this process, so that two workers on one machine can be told apart. */
function defaultName(): string {
  const host = hostname().replace(/[^A-Za-z0-9._-]/g, "-");
  return `${/^[A-Za-z0-9]/.test(host) && !host.startsWith("local-") ? host : `host-${host}`}-${process.pid}`;
}

function listOf(text: string | undefined): string[] {
  return (text ?? "")
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
}

/** The GPUs to use: the first `text` ones if it is a number, else those listed. */
function gpusOf(text: string, { gpus }: Machine): readonly string[] {
  if (!/^\d+$/.test(text)) return listOf(text);
  const count = Number(text);
  if (gpus.length >= count) return gpus.slice(0, count);
  if (count <= MAX_GPUS) return Array.from({ length: count }, (_, at) => String(at));
  throw new DarumaError("USAGE", `invalid --gpus ${text}`, { hint: "Write how many, or their names: 0,1." });
}

function bytesOf(text: string): number {
  const bytes = parseMemorySize(text);
  if (bytes === null) throw new DarumaError("USAGE", `invalid size ${text}; write 512m or 8g`);
  return bytes;
}

function checkAddress(server: string): void {
  if (/^https?:$/.test(URL.canParse(server) ? new URL(server).protocol : "")) return;
  throw new DarumaError("USAGE", `invalid server address ${server}`, {
    hint: "Write it as http://host:port.",
  });
}
