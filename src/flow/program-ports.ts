import type { Command } from "../core/model/commands.js";
import type { Json } from "../core/text/json.js";
import type { Clock } from "../run/engine/clock.js";

/** What a program needs of the process that executes it. */
export interface ProgramPorts {
  readonly clock: Pick<Clock, "now" | "after">;
  readonly readArtifact: (path: string) => Json;
  /** Decides it at once; what follows from it is committed with the next batch. */
  readonly call: (runId: number, command: Command) => void;
  /** How long a program stays in memory once all that it waits for rests. */
  readonly lingerMs: number;
}
