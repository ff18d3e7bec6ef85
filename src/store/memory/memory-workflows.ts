import { nextDraft } from "../draft-rules.js";
import { toStorableText } from "../storable-text.js";
import type { NewWorkflow, Store, WorkflowFilter, WorkflowRow } from "../store.js";
import { refuseMalformedWorkflow } from "../workflow-rules.js";
import type { MemoryTables, OpenTables } from "./memory-tables.js";

type WorkflowVerb =
  | "registerWorkflow"
  | "readDefinition"
  | "readWritten"
  | "readFailureHandler"
  | "listFailureHandlers"
  | "listWorkflows"
  | "readWorkflow";

export function createWorkflowVerbs(open: OpenTables): Pick<Store, WorkflowVerb> {
  return {
    async registerWorkflow(workflow) {
      const tables = open();
      refuseMalformedWorkflow(workflow);
      const { id: workflowId, version } = keepWorkflow(workflow, tables);
      const handlers = tables.failureHandlers.filter(({ workflow_id }) => workflow_id === workflowId);
      return { workflowId, version, failureHandlers: handlers.map(({ id, name }) => ({ id, name })) };
    },
    readDefinition: async (hash) => open().definitions.get(hash) ?? null,
    readWritten: async (hash) => open().written.get(hash) ?? null,
    async readFailureHandler(id) {
      const handler = open().failureHandlers[id - 1];
      return handler === undefined ? null : { ...handler };
    },
    listFailureHandlers: async (workflowId) =>
      open()
        .failureHandlers.filter(({ workflow_id }) => workflowId === undefined || workflow_id === workflowId)
        .map((handler) => ({ ...handler })),
    listWorkflows: async (filter) => listWorkflows(open().workflows, filter),
    async readWorkflow(id) {
      const workflow = open().workflows[id - 1];
      return workflow === undefined ? null : { ...workflow };
    },
  };
}

function keepWorkflow(workflow: NewWorkflow, tables: MemoryTables): WorkflowRow {
  const { workflows, definitions, failureHandlers } = tables;
  const { name, hash, definition, file, at } = workflow;
  const source = workflow.source === undefined ? null : toStorableText(workflow.source);
  if (!definitions.has(hash)) definitions.set(hash, definition);
  if (workflow.written !== undefined && !tables.written.has(hash))
    tables.written.set(hash, toStorableText(workflow.written));
  const versions = workflows.filter((each) => each.name === name);
  const known = versions.find(({ definition_hash }) => definition_hash === hash);
  if (known !== undefined) {
    workflows[known.id - 1] = { ...known, source: known.source ?? source };
    return known;
  }
  const place = { id: workflows.length + 1, name, version: versions.length + 1 };
  const added = { ...place, definition_hash: hash, file, created_at: at, source };
  workflows.push(added);
  for (const handler of workflow.failureHandlers) {
    const handlerPlace = { id: failureHandlers.length + 1, workflow_id: added.id };
    failureHandlers.push({ ...handlerPlace, name: handler.name, rules: handler.rules });
  }
  return added;
}

function listWorkflows(
  workflows: readonly WorkflowRow[],
  { name, limit, beforeId }: WorkflowFilter,
): WorkflowRow[] {
  const newest = new Map<string, WorkflowRow>();
  for (const workflow of workflows)
    if (workflow.source !== null || (newest.get(workflow.name)?.source ?? null) === null)
      newest.set(workflow.name, workflow);
  const chosen =
    name === undefined ? [...newest.values()] : workflows.filter((workflow) => workflow.name === name);
  return chosen
    .filter(({ id }) => beforeId === undefined || id < beforeId)
    .sort((a, b) => b.id - a.id)
    .slice(0, limit)
    .map((workflow) => ({ ...workflow }));
}

type DraftVerb = "saveDraft" | "readDraft" | "listDrafts" | "deleteDraft";

export function createDraftVerbs(open: OpenTables): Pick<Store, DraftVerb> {
  const readDraft = (name: string) => {
    const draft = open().drafts.get(name);
    return draft === undefined ? null : { ...draft };
  };
  return {
    async saveDraft(draft) {
      const present = readDraft(draft.name);
      const next = nextDraft(present, draft);
      if (next === null) return { saved: false, draft: present };
      open().drafts.set(next.name, next);
      return { saved: true, draft: { ...next } };
    },
    readDraft: async (name) => readDraft(name),
    listDrafts: async () =>
      [...open().drafts.values()].sort((a, b) => (a.name < b.name ? -1 : 1)).map((draft) => ({ ...draft })),
    async deleteDraft(name) {
      open().drafts.delete(name);
    },
  };
}
