import { DarumaError } from "../core/errors/errors.js";
import type { Definition } from "../core/model/definition.js";
import { type Json, NotJson, toJson } from "../core/text/json.js";
import { causeOfKey } from "../operations/runs/run-cause.js";
import type { StartOptions } from "../operations/runs/start-options.js";
import type { RunReport } from "../tell/run-report.js";
import type { AnyFlow } from "./flow.js";
import { FlowFailed } from "./flow-errors.js";
import { fitted } from "./standard-schema.js";

export type FlowStartOptions = Pick<
  StartOptions,
  "key" | "labels" | "priority" | "strict" | "maxLoops" | "retryMax"
>;

interface Reported {
  readonly runId: number;
  readonly result: Promise<RunReport>;
}

/** A run of a flow that this program started or goes on with. */
export interface FlowHandle<Output> extends Reported {
  /** What the program returns. Rejects with FlowFailed if the run ends otherwise, or rests because it is held or paused. */
  readonly output: Promise<Output>;
}

export interface FlowStarter {
  add(flow: AnyFlow): void;
  begin(definition: Definition, options: StartOptions): Promise<Reported>;
  outputOf(runId: number): Promise<Json>;
}

export async function startFlow(
  flow: AnyFlow,
  given: unknown,
  { key, ...options }: FlowStartOptions,
  starter: FlowStarter,
): Promise<FlowHandle<unknown>> {
  const input = given === undefined ? null : plain(given);
  const { input: schema } = flow.options;
  if (schema !== undefined)
    await fitted(schema as never, structuredClone(input), { name: "input", code: "INVALID_INPUT" });
  starter.add(flow);
  const { runId, result } = await starter.begin(flow.definition, {
    ...options,
    inputs: { input },
    // What the file says of a run may change from one version of the program to the next: the same order is the same run.
    ...(key === undefined ? {} : { cause: causeOfKey(key, { flow: flow.name, input }) }),
  });
  const output = result.then(async (report) => {
    if (report.status !== "completed") throw new FlowFailed(flow.name, report);
    return starter.outputOf(runId);
  });
  output.catch(() => {});
  return { runId, result, output };
}

function plain(given: unknown): Json {
  try {
    return toJson(given, "input");
  } catch (error) {
    if (!(error instanceof NotJson)) throw error;
    throw new DarumaError("INVALID_INPUT", error.message, { cause: error });
  }
}
