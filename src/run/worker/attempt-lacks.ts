import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import type { FailureFacts } from "../../core/model/failure.js";
import { PROGRAM, SECRET } from "../../core/model/worker-names.js";
import { counted } from "../../core/text/amount-text.js";
import type { Assignment } from "../worker.js";
import type { Extent } from "./room.js";

/** What a worker can offer to its attempts. */
interface Equipment {
  readonly env: { readonly [name: string]: string | undefined };
  readonly tags: readonly string[];
  /** The number of machines in its allocation. */
  readonly nodes: number;
  readonly extent: () => Extent;
}

/** Why an attempt cannot begin on this worker, however much room there is. Null if it can. */
export function lackOf(assignment: Assignment, equipment: Equipment): FailureFacts | null {
  const { secrets, runsOn, resources, recovery } = assignment;
  const missing = secrets.filter((name) => !equipment.env[name]);
  if (missing.length > 0) return { code: "MISSING_SECRET", message: `not set: ${missing.join(", ")}` };
  if (recovery) return null;
  const tags = runsOn.filter((tag) => !equipment.tags.includes(tag));
  if (tags.length > 0) return noWorker(`runs on ${tags.join(", ")}, which this worker does not offer`);
  const { nodes = 1, gpus = 0 } = resources ?? {};
  if (nodes !== equipment.nodes)
    return noWorker(
      `needs ${counted(nodes, "machine")} at once (num_nodes), and this worker has ${equipment.nodes}`,
    );
  const offered = gpus === 0 ? 0 : equipment.extent().gpus.length;
  if (gpus > offered)
    return noWorker(`needs ${counted(gpus, "GPU")} (num_gpus), and this worker has ${offered}`);
  return null;
}

function noWorker(what: string): FailureFacts {
  return { code: "NO_WORKER", message: `the step ${what}` };
}

export const BASH = `${PROGRAM}bash`;

/** Whether this process has a non-empty variable, or a program on its PATH. Values are not passed on. */
export function hasWanted(wanted: string, env: { readonly [name: string]: string | undefined }): boolean {
  if (wanted.startsWith(SECRET)) return Boolean(env[wanted.slice(SECRET.length)]);
  if (!wanted.startsWith(PROGRAM)) return false;
  const program = wanted.slice(PROGRAM.length);
  return (env.PATH ?? "").split(delimiter).some((folder) => isProgram(join(folder || ".", program)));
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
