import { dirname, resolve } from "node:path";
import { DarumaError } from "../../../core/errors/errors.js";
import { Daruma } from "../../../host/daruma.js";
import type { DarumaOptions } from "../../../host/parts.js";
import { followRun } from "../../follow-run.js";
import { loadFlows } from "../../load-flows.js";
import { settingsForRun } from "../../run-settings.js";
import type { FollowFlags } from "../../server/server-flags.js";
import type { Session } from "../../terminal/channel.js";

/** Nobody here knows what input it takes: the flow itself refuses what does not fit. */
type UntypedFlow = NonNullable<DarumaOptions["flows"]>[number] & {
  readonly takes?: (input: unknown) => void;
};

export interface FlowFlags extends FollowFlags {
  readonly input?: string;
  readonly key?: string;
}

/** Starts a flow of a module, or goes on with the run that has this key. */
export async function runFlow(
  file: string,
  name: string,
  flags: FlowFlags,
  session: Session,
): Promise<number> {
  if (session.options.server !== undefined)
    throw new DarumaError("USAGE", "flows run works without a server");
  const input = flags.input === undefined ? undefined : parsed(flags.input);
  const flows = await loadFlows(file);
  const flow = flows.find((each) => each.name === name);
  if (flow === undefined)
    throw new DarumaError("USAGE", `${file} exports no flow ${name}`, {
      hint: `It exports ${flows.map((each) => each.name).join(", ")}.`,
    });
  const { outputDir, store } = session.options;
  const { breakers, notify, channels } = await settingsForRun(session, dirname(resolve(file)));
  const { maxParallel, key } = flags;
  const daruma = await Daruma.open({
    ...{ outputDir, store, breakers, notify, flows },
    ...(maxParallel === undefined ? {} : { maxParallel }),
  });
  return followRun(session, daruma, { ...flags, channels }, async () => {
    const { runId, result } = await daruma.start(
      flow as UntypedFlow,
      input,
      key === undefined ? {} : { key },
    );
    return { runId, ended: result.then(() => {}) };
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new DarumaError("USAGE", `--input is no JSON: ${text.slice(0, 80)}`, { cause: error });
  }
}
