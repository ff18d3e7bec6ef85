import { DarumaError } from "../../core/errors.js";
import type { HoldAction } from "../../core/events.js";
import type { Json } from "../../core/json.js";
import { resolveCommand } from "../../operations/resolve-holds.js";
import type { Session } from "../channel.js";
import { type OperatorFlags, operate } from "../operate.js";
import type { RunReference } from "../run-reference.js";

export interface ResolveFlags extends OperatorFlags {
  readonly all?: boolean;
  readonly scope?: string;
  readonly retry?: boolean;
  readonly fail?: boolean;
  readonly skip?: boolean;
  readonly complete?: string;
  readonly dryRun?: boolean;
}

/** Decide holds: all that are named in one step, or none of them. */
export async function resolveHolds(
  reference: RunReference,
  jobs: readonly string[],
  flags: ResolveFlags,
  session: Session,
): Promise<number> {
  const action = chosenAction(flags);
  const output = flags.complete === undefined ? null : parseOutput(flags.complete);
  if ((jobs.length === 0) !== (flags.all === true))
    throw new DarumaError("USAGE", "name the jobs to resolve, or say --all", {
      hint: "See `daruma holds RUN` for what can be resolved.",
    });
  return operate(session, reference, flags, async ({ store, outputDir, runId, reason, key }) => {
    const scope = flags.scope === undefined ? {} : { scope: flags.scope };
    const request = { runId, jobs, ...scope, action, output, reason, key };
    return {
      action: `resolve.${action}`,
      command: await resolveCommand(store, outputDir, request),
      sentence: () => `resolved by ${action}: ${reason}`,
      dryRun: flags.dryRun === true,
    };
  });
}

function chosenAction(flags: ResolveFlags): HoldAction {
  const chosen = (["retry", "fail", "skip", "complete"] as const).filter((action) => {
    const flag = flags[action];
    return flag !== undefined && flag !== false;
  });
  if (chosen.length !== 1)
    throw new DarumaError("USAGE", "say exactly one of --retry, --fail, --skip and --complete", {
      hint: "See `daruma resolve --help`.",
    });
  return chosen[0]!;
}

function parseOutput(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    throw new DarumaError("USAGE", `--complete: this is not JSON: ${(error as Error).message}`, {
      hint: `Write a JSON value, such as --complete '{"version": 7}' or --complete '"done"'.`,
      cause: error,
    });
  }
}
