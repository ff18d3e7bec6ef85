import type { OperationName } from "../../operations/operations.js";
import { jsonText } from "../terminal/channel.js";
import type { Present } from "./presenter.js";

const PRESENTERS: { readonly [words: string]: () => Promise<Present> } = {
  cancel: async () => (await import("../commands/decide/cancel.js")).cancel,
  pause: async () => (await import("../commands/decide/pause.js")).pause,
  takeover: async () => (await import("../commands/decide/pause.js")).pause,
  retry: async () => (await import("../commands/decide/retry.js")).retry,
  "hard-reset": async () => (await import("../commands/decide/retry.js")).retry,
  "resume-from": async () => (await import("../commands/decide/retry.js")).retry,
  reset: async () => (await import("../commands/decide/reset.js")).reset,
  recover: async () => (await import("../commands/recover/recover.js")).recover,
  holds: async () => (await import("../commands/look/holds.js")).holds,
  "dead-letters": async () => (await import("../commands/look/dead-letters.js")).deadLetters,
  failures: async () => (await import("../commands/look/failures.js")).failures,
  "failures show": async () => (await import("../commands/look/failures.js")).showFailure,
  "failures note": async () => (await import("../commands/decide/triage.js")).triage,
  "failures mute": async () => (await import("../commands/decide/triage.js")).triage,
  "failures resolve": async () => (await import("../commands/decide/triage.js")).triage,
  flakes: async () => (await import("../commands/look/flakes.js")).flakes,
  "campaigns start": async () => (await import("../commands/decide/campaign.js")).startCampaign,
  "campaigns list": async () => (await import("../commands/look/campaigns.js")).listCampaigns,
  "campaigns show": async () => (await import("../commands/look/campaigns.js")).showCampaign,
  "campaigns pause": async () => (await import("../commands/decide/campaign.js")).controlCampaign,
  "campaigns resume": async () => (await import("../commands/decide/campaign.js")).controlCampaign,
  "campaigns stop": async () => (await import("../commands/decide/campaign.js")).controlCampaign,
  redrive: async () => (await import("../commands/decide/redrive.js")).redrive,
  workspace: async () => (await import("../commands/look/workspace.js")).workspace,
  apply: async () => (await import("../commands/decide/apply.js")).apply,
  resolve: async () => (await import("../commands/decide/resolve.js")).resolveHolds,
  answer: async () => (await import("../commands/decide/answer.js")).answer,
  fork: async () => (await import("../commands/run/fork.js")).fork,
  "diff-run": async () => (await import("../commands/run/diff-run.js")).diffRun,
  validate: async () => (await import("../commands/run/validate.js")).validate,
  schema: async () => (await import("../commands/run/schema.js")).schema,
  graph: async () => (await import("../commands/run/graph.js")).graph,
  list: async () => (await import("../commands/look/list.js")).list,
  show: async () => (await import("../commands/look/show.js")).show,
  events: async () => (await import("../commands/look/events.js")).events,
  watch: async () => (await import("../commands/look/watch.js")).watch,
  logs: async () => (await import("../commands/look/logs.js")).logs,
  explain: async () => (await import("../commands/look/explain.js")).explainRun,
  resources: async () => (await import("../commands/look/resources.js")).resources,
  compare: async () => (await import("../commands/look/compare.js")).compare,
  stats: async () => (await import("../commands/look/stats.js")).stats,
  artifact: async () => (await import("../commands/look/artifact.js")).artifact,
  jobs: async () => (await import("../commands/look/tables.js")).jobs,
  artifacts: async () => (await import("../commands/look/tables.js")).artifacts,
  handlers: async () => (await import("../commands/look/tables.js")).handlers,
  workflows: async () => (await import("../commands/look/tables.js")).workflows,
  breakers: async () => (await import("../commands/look/breakers.js")).breakers,
  "breakers open": async () => (await import("../commands/decide/breaker.js")).controlBreaker,
  "breakers close": async () => (await import("../commands/decide/breaker.js")).controlBreaker,
  workers: async () => (await import("../commands/look/workers.js")).workers,
  "workers release": async () => (await import("../commands/decide/release-worker.js")).releaseWorker,
  "workflow drafts": async () => (await import("../commands/look/tables.js")).drafts,
  "token list": async () => (await import("../commands/look/tables.js")).tokens,
  "token create": async () => (await import("../commands/serve/token.js")).createToken,
  "token revoke": async () => (await import("../commands/serve/token.js")).revokeToken,
  "job show": async () => (await import("../commands/look/job.js")).showJob,
  "job set": async () => (await import("../commands/decide/job.js")).setJob,
  "job retry": async () => (await import("../commands/decide/job.js")).retryJob,
  handler: async () => (await import("../commands/look/handler.js")).handler,
  "workflow show": async () => (await import("../commands/run/workflow.js")).showWorkflow,
  "workflow discard": async () => (await import("../commands/run/workflow.js")).discardDraft,
  "workflow draft": async () => (await import("../commands/run/workflow.js")).printDraft,
  "workflow save": async () => (await import("../commands/run/workflow.js")).saveDraft,
  "workflow check": async () => (await import("../commands/run/workflow.js")).checkDraft,
  "workflow publish": async () => (await import("../commands/run/workflow.js")).publish,
  "cluster plan": async () => (await import("../commands/serve/cluster.js")).planCluster,
  "slurm plan": async () => (await import("../commands/serve/cluster.js")).planCluster,
  "slurm regenerate": async () => (await import("../commands/serve/cluster.js")).planCluster,
  "slurm allocations": async () => (await import("../commands/serve/cluster.js")).listAllocations,
  "allocations list": async () => (await import("../commands/serve/cluster.js")).listAllocations,
  "allocations logs": async () => (await import("../commands/serve/cluster.js")).allocationLogs,
  "allocations show": async () => (await import("../commands/serve/cluster.js")).showAllocation,
  "allocations cancel": async () => (await import("../commands/serve/cluster.js")).controlAllocations,
  "allocations drain": async () => (await import("../commands/serve/cluster.js")).controlAllocations,
  "allocations resume": async () => (await import("../commands/serve/cluster.js")).controlAllocations,
  prune: async () => (await import("../commands/serve/prune.js")).prune,
  import: async () => (await import("../commands/serve/import.js")).importRun,
};

/** What has no words of its own prints the answer. */
export function presenterOf(words: string, name: string): Promise<Present> {
  return PRESENTERS[words]?.() ?? printAnswer(name as OperationName);
}

async function printAnswer(name: OperationName): Promise<Present> {
  return async ({ input }, { out, options }, client) => {
    const answer = await client.call(name, input as never);
    out.write(`${jsonText(answer, options.json ? undefined : 2)}\n`);
    return 0;
  };
}
