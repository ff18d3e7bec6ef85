import { DEFAULT_REASON, redacted } from "../../../operations/operator-words.js";
import { forkSource } from "../../../operations/runs/fork-source.js";
import { readSource, readWorkflow } from "../../../operations/workflows/workflow-source.js";
import { type RunReference, requireRun } from "../../../tell/lookup/run-reference.js";
import type { Present } from "../../declare/declaration.js";
import { resolveRun } from "../../declare/typed-names.js";
import { followRun } from "../../follow-run.js";
import { openHere } from "../../open-here.js";
import { startRemotely } from "../../remote/follow-server-run.js";
import { type FollowFlags, refuseLocalFlags, refuseServerFlags } from "../../server/server-flags.js";
import type { Session } from "../../terminal/channel.js";
import { readInputs, readLabels } from "./run-flags.js";

interface ForkFlags extends FollowFlags {
  readonly from: string;
  readonly input?: readonly string[];
  readonly label?: readonly string[];
  readonly file?: string;
  readonly reason?: string;
  readonly maxParallel?: number;
  readonly keepStoodIn?: boolean;
  readonly key?: string;
}

/** Starts a new run that reuses what another had completed before a step, and goes on from there. */
export const fork: Present = async ({ input, flags: given }, session, client) => {
  const flags = given as unknown as ForkFlags;
  const reference = input.run_id as RunReference;
  const inputs = readInputs(flags.input ?? []);
  const { from: step, file, reason = DEFAULT_REASON, key } = flags;
  if (session.options.server === undefined) return forkHere(reference, { ...flags, reason }, session);
  refuseLocalFlags(flags);
  const newer = file === undefined ? {} : { source: readSource(file), file_name: file };
  const labels = flags.label === undefined ? {} : { labels: readLabels(flags.label) };
  return startRemotely(session, client, flags, async () => {
    const keep = flags.keepStoodIn === true ? { keep_stood_in: true } : {};
    const request = { run_id: reference, step, inputs, ...labels, ...keep, reason, key, ...newer };
    const { plan: _plan, ...started } = await client.call("fork_run", request);
    return started;
  });
};

async function forkHere(reference: RunReference, flags: ForkFlags, session: Session): Promise<number> {
  refuseServerFlags(flags);
  const inputs = readInputs(flags.input ?? []);
  const labels = readLabels(flags.label ?? []);
  const { daruma, channels, breakers } = await openHere(session, reference, flags);
  const reading = { customActions: [], sharedBreakers: breakers.map(({ name }) => name) };
  return followRun(session, daruma, { ...flags, channels }, async () => {
    const runId = await resolveRun(daruma.store, reference);
    const { folder } = await requireRun(daruma.store, runId);
    const { workflow, options } = await forkSource(daruma.store, {
      runId,
      step: flags.from,
      ...(flags.file === undefined ? {} : { newer: readWorkflow(flags.file, folder, reading) }),
      inputs,
      labels,
      keepStoodIn: flags.keepStoodIn,
      reason: await redacted(daruma.store, runId, flags.reason ?? DEFAULT_REASON),
    });
    return daruma.begin(workflow, { ...options, ...(flags.key === undefined ? {} : { key: flags.key }) });
  });
}
