import { z } from "zod";
import type { Event, EventType } from "../../core/model/events.js";
import { DATE_RANGE } from "../../core/text/iso-time.js";
import { labels } from "../schemas.js";

type EventOf<type extends EventType> = Extract<Event, { type: type }>;
/** Every field of an event. Words are held to be text: older logs may have others. */
type ShapeOf<type extends EventType> = {
  readonly [field in Exclude<keyof EventOf<type>, "type">]-?: z.ZodType;
};

const text = z.string();
const flag = z.boolean();
const id = z.int();
/** The id of a job, wherever it stands: the log of a run under another number has others. */
export const jobId = z.int();
/** Stores keep these in 32 bits. */
const count = z.int().min(0).max(2_147_483_647);
const number = z.number();
const time = z.number().min(-DATE_RANGE).max(DATE_RANGE);
const jobIds = z.array(jobId);
const texts = z.array(text);
/** JSON, as the whole document is; not looked into, however deep it is. */
const value = z.custom((given) => given !== undefined, "Invalid input: expected a value");
const named = z.record(text, value);
const items = z.array(z.looseObject({ key: text })).nullable();
const key = text.nullable();
export const output = z.discriminatedUnion("kind", [
  z.looseObject({ kind: z.literal("value"), value }),
  z.looseObject({
    kind: z.literal("artifact"),
    path: text,
    bytes: number,
    sha256: text,
    preview: text,
  }),
]);
const rungs = z.array(z.looseObject({ rung: text, applied: flag, kind: text.optional(), reason: text }));
const edges = z.array(z.looseObject({ edge: id, to: text, matched: flag, why: text }));
const moved = z.array(z.looseObject({ ordinal: count, commit: text })).optional();
const attemptOf = { job: jobId, attempt: count };
const cost = {
  duration_ms: number,
  peak_memory_bytes: number.optional(),
  cpu_ms: number.optional(),
  read_bytes: number.optional(),
  written_bytes: number.optional(),
};
const outcome = { ok: flag, message: text, duration_ms: number };
const elsewhere = z.looseObject({ run: id, attempt: count }).optional();
const raise = { resource: text, from: number.nullable(), to: number };
const by = text.optional();
const expired = z.literal(true).optional();
const told = { reason: text, key, by };

/** Older logs lack some of it, and have a number for the time. */
const failureFields = {
  code: text,
  class: text,
  message: text,
  retryable: flag,
  final: flag.optional(),
  action: text.optional(),
  step_id: text.optional(),
  job_id: jobId.optional(),
  attempt: count.nullish(),
  timestamp: z.union([text, time]).optional(),
  exit_code: number.nullish(),
  signal: text.nullish(),
  retry_after_ms: number.nullish(),
  signature: text.optional(),
  stdout_tail: text.optional(),
  stderr_tail: text.optional(),
  stack_trace: text.nullish(),
  diff_hash: text.nullish(),
  changed_files: texts.optional(),
  resource_limit: z.looseObject({ amount: number, cluster: text.nullable() }).optional(),
  original_class: text.nullish(),
};
const failure = z.looseObject({ ...failureFields, cause: z.looseObject(failureFields).nullish() });

const checkpoint = z.looseObject({
  ordinal: count,
  commit: text,
  diff_hash: text.nullable(),
  changed_files: texts,
  patch: text,
  stored: flag.optional(),
});

const created = {
  workflow: text,
  workflow_id: id,
  definition_hash: text,
  inputs: named,
  context: named,
  options: z.looseObject({
    max_loops: number.nullish(),
    retry_max: number.nullish(),
    failure_routing: flag.optional(),
    only: text.nullish(),
    imported: z.literal(true).optional(),
  }),
  folder: text,
  file: text.nullable(),
  parent: z.looseObject({ run_id: id, job_id: id }).nullish(),
  managed: flag.optional(),
  labels: labels.optional(),
  concurrency: z.looseObject({ group: text, limit: count, policy: text }).optional(),
  priority: number.optional(),
  cause: z.looseObject({ mark: text, request: text.nullable() }).optional(),
  failure_handlers: z.array(z.looseObject({ name: text, id })).optional(),
};

/** What the fields of each event hold. A new event or field must be entered here, and the compiler says so. */
export const SHAPES: { readonly [type in EventType]: ShapeOf<type> } = {
  "run.created": created,
  "run.started": {},
  "run.resumed": { lost: z.array(z.looseObject(attemptOf)) },
  "run.cancel_requested": { ...told, code: text.optional(), now: z.literal(true).optional() },
  "run.paused": { ...told, takeover: flag },
  "run.unpaused": told,
  "run.held": { jobs: jobIds },
  "run.reopened": told,
  "run.forked": {
    from: id,
    step: text.optional(),
    reason: text,
    reuse: z.array(
      z.looseObject({
        scope: text,
        step: text,
        output,
        items,
        user_data: named.optional(),
        origin: elsewhere,
      }),
    ),
  },
  "run.ending": { status: z.enum(["completed", "failed", "canceled"]), code: text.nullable(), message: text },
  "undo.started": { jobs: jobIds },
  "undo.entered": { job: jobId, visit: count, of: jobId },
  "undo.left": { job: jobId, of: jobId, undone: flag },
  "finally.entered": { job: jobId, visit: count },
  "run.completed": { handled: jobIds },
  "run.failed": { code: text, message: text, unhandled: jobIds },
  "run.canceled": { reason: text, code: text.optional() },
  "time.counted": { deadline_at: time.nullable(), warn_at: time.nullable() },
  "time.stopped": { used_ms: time.min(0) },
  "time.warned": { after_ms: count },
  "scopes.opened": { job: jobId, generation: count, items: items.unwrap() },
  "scope.abandoned": {
    scope: text,
    because: text,
    code: text,
    reason: text,
    canceled: jobIds,
    stopping: jobIds,
  },
  "join.decided": {
    job: jobId,
    satisfied: flag,
    completed: count,
    failed: count,
    skipped: count,
    handled: jobIds,
  },
  "jobs.ready": { jobs: jobIds, reason: text },
  "jobs.skipped": { jobs: jobIds, because: text.optional(), reason: text },
  "jobs.canceled": { jobs: jobIds, code: text, reason: text },
  "jobs.stopping": { jobs: jobIds, because: text, reason: text },
  "job.created": { job: jobId, step: text, scope: text },
  "job.released": { job: jobId },
  "job.failed": {
    job: jobId,
    code: text,
    message: text,
    handled: text.nullable(),
    part_of: jobId.nullable(),
    routed: flag,
  },
  "job.reused": { job: jobId, output, items, user_data: named.optional(), origin: elsewhere },
  "job.held": { job: jobId, code: text, message: text, due_at: time.optional(), due_action: text.optional() },
  "hold.resolved": { job: jobId, action: text, ...told, expired, output: output.nullable(), items },
  "jobs.retried": {
    jobs: jobIds,
    reblocked: jobIds,
    action: text,
    raised: z.array(z.looseObject({ job: jobId, ...raise })).optional(),
    max_attempts: count.optional(),
    ...told,
  },
  "operator.goto": { target: jobId, to: text, jobs: jobIds.optional(), ...told },
  "routes.settled": { handled: jobIds, unhandled: jobIds },
  "visit.requested": { job: jobId, by: jobId, role: text },
  "visit.entered": { job: jobId, visit: count, by: jobId, role: text },
  "visit.left": { job: jobId, by: jobId, role: text, ok: flag },
  "attempt.started": {
    ...attemptOf,
    visit: count,
    worker: text,
    token: text,
    node: text.nullish(),
    allocation: text.nullish(),
    restart: count.nullish(),
    placed: text.optional(),
    kept_back: jobId.optional(),
  },
  "attempt.succeeded": {
    ...attemptOf,
    output,
    items,
    checkpoint: checkpoint.nullable(),
    usage: z.looseObject({ provider: text, model: text }).optional(),
    files: z
      .array(z.looseObject({ role: z.enum(["input", "output"]), path: text, sha256: text.nullable() }))
      .optional(),
    user_data: named.optional(),
    ...cost,
  },
  "attempt.failed": {
    ...attemptOf,
    error: failure,
    no_progress: z.looseObject({ streak: count, limit: count, oscillation: flag }).nullable(),
    breakers: texts.optional(),
    ...cost,
  },
  "attempt.stopped": { ...attemptOf, because: text, ...cost },
  "if.failed": { job: jobId, error: failure },
  "ladder.climbed": {
    ...attemptOf,
    rung: text,
    considered: rungs,
    recovery: text.nullable(),
    failure_route: z
      .looseObject({
        attempted: flag,
        selected_edge_id: id.nullable(),
        target_node_id: jobId.nullable(),
        target_node_key: text.nullable(),
        status: text,
        considered: edges,
      })
      .nullable(),
  },
  "restart.granted": { ...attemptOf, recovery: count, limit: count },
  "job.parked": { ...attemptOf, breakers: texts },
  "jobs.unparked": { jobs: jobIds, breaker: text, because: text },
  "job.let_through": { job: jobId, ...told },
  "rule.reserved": {
    ...attemptOf,
    next: count,
    handler: text,
    rule: count,
    exit_code: number.nullable(),
    max_attempts: number,
    script: text.nullable(),
    raised: z.looseObject(raise).optional(),
  },
  "recovery.started": { ...attemptOf, try: count, token: text },
  "recovery.interrupted": attemptOf,
  "recovery.finished": { ...attemptOf, ...outcome, exit_code: number.nullable() },
  "reset.reserved": {
    ...attemptOf,
    trigger: text,
    reset: count.nullable(),
    max: number.nullable(),
    ...told,
  },
  "requeue.scheduled": {
    ...attemptOf,
    requeue: count,
    max: number,
    delay_ms: number,
    due_at: time,
    reason: text,
  },
  "job.dead_lettered": { ...attemptOf, code: text, queue_attempts: count },
  "workspace.opened": {
    commit: text,
    base: text.optional(),
    path: text,
    notes: z.array(z.looseObject({ kind: text, paths: texts.optional() })).optional(),
    home: text.optional(),
    host: text.optional(),
  },
  "workspace.moved": { path: text, moved, home: text, host: text },
  "workspace.left": { host: text, message: text },
  "rebuild.started": {
    rebuild: id,
    job: jobId,
    barrier: id.nullable(),
    try: count,
    replay: z.array(count),
    leftover: z.looseObject(attemptOf).nullish(),
  },
  "rebuild.finished": {
    rebuild: id,
    job: jobId,
    ...outcome,
    path: text.nullable(),
    moved,
    partial: z.looseObject({ ...attemptOf, patch: text, files: count }).nullish(),
  },
  "set_aside.started": {
    ...attemptOf,
    for: jobId,
    rebuild: id.nullable(),
    try: count,
    kept_back: jobId.optional(),
  },
  "set_aside.finished": { ...attemptOf, for: jobId, ...outcome, patch: text.nullable(), files: count },
  "workspace.promoted": { rebuild: id, job: jobId, path: text },
  "workspace.discarded": { rebuild: id, job: jobId, path: text.nullable(), reason: text },
  "human.asked": {
    ...attemptOf,
    prompt: text,
    choices: texts,
    due_at: time.nullable(),
    choose: text.optional(),
  },
  "human.answered": { ...attemptOf, choice: text, text, reason: text.optional(), key, by, expired },
  "edge.taken": {
    ...attemptOf,
    edge: id,
    target: jobId,
    to: text,
    on: text,
    status: text,
    counted: flag,
    loop: count.nullish(),
    considered: edges,
  },
  "retry.scheduled": {
    ...attemptOf,
    retry: count,
    max: number,
    delay_ms: number,
    due_at: time,
    reason: text,
  },
  "remediation.started": { ...attemptOf, steps: texts, jobs: jobIds, reason: text },
  "remediation.finished": { job: jobId, ok: flag, failed_step: text.nullable(), loop: count.nullish() },
  "follow_up.started": { job: jobId, steps: texts, jobs: jobIds, reason: text },
  "follow_up.finished": { job: jobId, ok: flag, failed_step: text.nullable() },
  "goto.taken": {
    ...attemptOf,
    target: jobId,
    to: text,
    trigger: text,
    goto: count.optional(),
    max: number.nullish(),
    loop: count,
    reason: text,
  },
  "barrier.opened": {
    barrier: id,
    target: jobId,
    forced: flag,
    from: jobId.nullable(),
    edge: id.nullable(),
    members: jobIds,
    merged: z.array(id),
  },
  "barrier.closed": { barrier: id, invalidated: jobIds, retired: jobIds },
  "loop.exceeded": {
    job: jobId,
    scope: text,
    transition: text,
    count,
    retries: count.optional(),
    max: number,
  },
  "evaluation.requested": { id, job: jobId, purpose: text, considered: rungs, code: text.nullable() },
  "evaluation.finished": {
    id,
    job: jobId,
    purpose: text,
    result: z.discriminatedUnion("ok", [
      z.looseObject({ ok: z.literal(true), value, duration_ms: number }),
      z.looseObject({ ok: z.literal(false), code: text, reason: text, duration_ms: number }),
    ]),
  },
};

/** Where an event has something else than its type calls for, and what is wrong there; null: nowhere. */
export function wrongFieldOf(
  event: Event,
): { readonly path: readonly string[]; readonly message: string } | null {
  const { error } = z.looseObject(SHAPES[event.type]).safeParse(event);
  if (error === undefined) return null;
  const { path, message } = error.issues[0]!;
  return { path: path.map(String), message };
}
