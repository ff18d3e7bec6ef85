import type { ActionDoneBy } from "../../core/model/action-traits.js";
import type { ProcessHost } from "../process/process-host.js";
import type { Sandbox } from "../sandbox/sandbox.js";
import type { Action } from "./action.js";
import { createAgentAction } from "./agent.js";
import { createCommandAction } from "./command.js";
import { createHttpAction } from "./http.js";
import { createLlmCallAction } from "./llm-call.js";
import { createScriptAction } from "./script.js";
import { type ChildRuns, createWorkflowAction } from "./workflow.js";

/** Does nothing and gives its `output`, rendered: a place for routing, joins and tests. */
export const noopAction: Action = {
  type: "noop",
  silent: true,
  run: async ({ action }) => ({ kind: "succeeded", output: action.output ?? null }),
};

interface ActionPorts {
  readonly processes: ProcessHost;
  readonly sandbox: Sandbox;
}

interface ServerPorts extends ActionPorts {
  readonly children: ChildRuns;
}

const FOR_WORKERS: { readonly [type in ActionDoneBy<"worker">]: (ports: ActionPorts) => Action } = {
  command: ({ processes }) => createCommandAction(processes),
  http: createHttpAction,
  script: ({ sandbox }) => createScriptAction(sandbox),
  agent: ({ processes }) => createAgentAction(processes),
  llm_call: createLlmCallAction,
  noop: () => noopAction,
};

const FOR_SERVERS: { readonly [type in ActionDoneBy<"server">]: (ports: ServerPorts) => Action } = {
  workflow: ({ children }) => createWorkflowAction(children),
};

/** What a worker can do, wherever it is. */
export function workerActions(ports: ActionPorts): Action[] {
  return Object.values(FOR_WORKERS).map((make) => make(ports));
}

/** What the worker in the engine's own process can do: all but what people do. */
export function builtInActions(ports: ServerPorts): Action[] {
  return [...workerActions(ports), ...Object.values(FOR_SERVERS).map((make) => make(ports))];
}
