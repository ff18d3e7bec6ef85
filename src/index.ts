export type { CommandOutcome } from "./core/decide/take-command.js";
export { DarumaError, ERROR_CATALOGUE, type ErrorCode } from "./core/errors/errors.js";
export type { OperatorRequest } from "./core/model/commands.js";
export type { Definition, StepDefinition } from "./core/model/definition.js";
export type { Event, EventType, LoggedEvent } from "./core/model/events.js";
export type { ErrorRecord, Failure, FailureClass } from "./core/model/failure.js";
export type { Outcome } from "./core/model/outcome.js";
export type { JobStatus, RunStatus } from "./core/model/rows.js";
export type { Json } from "./core/text/json.js";
export type { StepInput, WorkflowInput } from "./file/builder.js";
export { InvalidWorkflow } from "./file/invalid-workflow.js";
export type { Problem } from "./file/read/problem.js";
export { type ClusterEngine, createAllocationProvider } from "./fleet/allocations/create-provider.js";
export type { AllocationProvider } from "./fleet/allocations/provider.js";
export {
  type Answer,
  type Flow,
  type FlowOptions,
  flow,
  type MapOptions,
  type Policy,
  type Question,
  type RunOptions,
  type StepAttempt,
  type StepOptions,
  type Steps,
} from "./flow/flow.js";
export { FlowCanceled, FlowFailed, StepFailed } from "./flow/flow-errors.js";
export type { StandardSchema } from "./flow/standard-schema.js";
export type { FlowHandle, FlowStartOptions } from "./flow/start-flow.js";
export { Daruma } from "./host/daruma.js";
export type { DarumaOptions } from "./host/parts.js";
export type { RunHandle } from "./host/run-handle.js";
export type { InputOf, OutputOf } from "./operations/client.js";
export type { RunDesignEvent, RunEvent } from "./operations/runs/event-item.js";
export type { StartOptions } from "./operations/runs/start-options.js";
export { defineWorkflow } from "./operations/workflows/define-workflow.js";
export type { Workflow } from "./operations/workflows/workflow.js";
export type { Action, Attempt } from "./run/action/action.js";
export { defineAction, type StepContext, type StepFunction } from "./run/action/function-action.js";
export type { JobRecord } from "./tell/job-record.js";
export type { JobReport, RouteReport, RunReport } from "./tell/run-report.js";
