import { existsSync, readFileSync } from "node:fs";
import { availableParallelism, hostname, totalmem } from "node:os";
import type { AttemptPlace } from "../../../core/model/worker-names.js";
import { readAllocation } from "./allocation-environment.js";
import { type ControlGroup, type ReadText, readControlGroup } from "./control-group.js";

/** What a worker can offer: its allocation, within the limits of its control group, or else the whole machine. */
export interface Machine extends AttemptPlace {
  /** A whole number, at least one. */
  readonly cpus: number;
  readonly memoryBytes: number;
  /** The number of machines in the allocation. This one is the first. */
  readonly nodes: number;
  /** Names of GPUs, in the form of CUDA_VISIBLE_DEVICES. */
  readonly gpus: readonly string[];
}

/** The whole machine, even if this process may use only a part. */
export interface WholeMachine {
  readonly node: string;
  readonly cpus: number;
  readonly memoryBytes: number;
  readonly gpus: readonly string[];
}

const MAX_DEVICES = 64;

export function readMachine(env: { readonly [name: string]: string | undefined } = process.env): Machine {
  return machineOf(env, readControlGroup(readText), wholeMachine());
}

/** The minimum of what the allocation, the control group and the machine report. Names come from the allocation. */
export function machineOf(
  env: { readonly [name: string]: string | undefined },
  group: ControlGroup,
  whole: WholeMachine,
): Machine {
  const given = readAllocation(env);
  const cpus = Math.min(
    given.cpus ?? Infinity,
    group.cpus ?? Infinity,
    given.cpus === null ? whole.cpus : Infinity,
  );
  return {
    node: given.node ?? whole.node,
    allocation: given.allocation,
    restart: given.restart,
    cpus: Math.max(1, Math.floor(cpus)),
    memoryBytes: Math.min(given.memoryBytes ?? Infinity, group.memoryBytes ?? Infinity, whole.memoryBytes),
    nodes: given.nodes ?? 1,
    gpus: given.gpus ?? whole.gpus,
  };
}

function wholeMachine(): WholeMachine {
  const devices = Array.from({ length: MAX_DEVICES }, (_, at) => String(at));
  return {
    node: hostname(),
    cpus: availableParallelism(),
    memoryBytes: totalmem(),
    gpus: devices.filter((device) => existsSync(`/dev/nvidia${device}`)),
  };
}

const readText: ReadText = (path) => {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
};
