import type { UserData } from "../../core/model/batch/user-data.js";
import {
  DEFAULT_KILL_GRACE_MS,
  DEFAULT_MAX_ITEMS,
  DEFAULT_MAX_LOG_BYTES,
  DEFAULT_MAX_LOOPS,
  DEFAULT_MAX_RECOVERIES,
  type Definition,
  type FailureRouting,
  type Routing,
  type SelfHeal,
  type StepDefinition,
  type Transition,
} from "../../core/model/definition.js";
import type { WrittenShell } from "../../core/model/shell.js";
import { mapped, NONE } from "../../core/model/sparse-lists.js";
import {
  JOIN_ALL,
  NO_FAILURE_ROUTING,
  NO_ROUTING,
  NO_VARIABLES,
} from "../../core/model/stored-definition.js";
import { toObject } from "../fields/action-fields.js";
import { keyVariables } from "../fields/agent-fields.js";
import type { RawStep, RawUserData, StepKeys } from "../fields/read-step.js";
import { type RetryDraft, reportConflict } from "../fields/retry-fields.js";
import { withShell } from "../fields/shell-field.js";
import type { StepEntry } from "../fields/step-entries.js";
import type { TransitionDraft } from "../fields/transition-fields.js";
import type { WORKFLOW_FIELDS } from "../fields/workflow-fields.js";
import { childPath } from "../read/path.js";
import type { Located, ReadContext, ReadOf } from "../read/schema.js";
import { findEntry } from "../read/source-tree.js";
import { References } from "./references.js";
import {
  type HoldSurroundings,
  healedRetry,
  healedTimeouts,
  mergeRetry,
  stepHealing,
  stepHold,
  toRetryPolicy,
} from "./step-policies.js";

export type WorkflowKeys = ReadOf<typeof WORKFLOW_FIELDS>;
type RoutingKeys = NonNullable<StepKeys["on_success"]>;

/** What the steps of a file are read against. */
interface Surroundings extends HoldSurroundings {
  /** Steps that a `run` list or a transition leads to. */
  readonly named: ReadonlySet<string>;
  /** Steps whose failure a transition takes somewhere. */
  readonly failing: ReadonlySet<string>;
  readonly retryDefaults: RetryDraft | undefined;
  readonly hasWorkspace: boolean;
  readonly selfHeal: SelfHeal | null;
  /** The shell for texts that do not name one. Null in the batch form, where jobs already have one. */
  readonly shell: WrittenShell | null;
  readonly references: References;
}

/** Defaults filled in (those of `on_fail` but for `retry` are in the entries already), other spellings folded, references turned into ids. */
export function normalise(
  keys: WorkflowKeys,
  { entries, userData }: { readonly entries: readonly StepEntry[]; readonly userData: UserData },
  nameFromFile: string,
  context: ReadContext,
): Definition {
  const surroundings: Surroundings = {
    named: routedTargets(keys, entries),
    failing: new Set(
      keys.transitions?.flatMap(({ from, on }) =>
        from === undefined || on === "success" ? [] : [from.value],
      ),
    ),
    retryDefaults: keys.routing?.defaults?.on_fail?.retry,
    hasWorkspace: keys.workspace !== undefined,
    selfHeal: keys.self_heal ?? null,
    shell: keys.jobs === undefined ? (keys.shell ?? "sh") : null,
    references: new References(keys, context),
    hold: keys.hold,
    maxItems: keys.max_items ?? DEFAULT_MAX_ITEMS,
    context,
  };
  return {
    name: keys.name ?? nameFromFile,
    version: keys.version ?? null,
    ...given("description", keys.description),
    ...given("user", keys.user),
    ...(keys.labels === undefined || keys.labels.size === 0 ? {} : { labels: toObject(keys.labels)! }),
    inputs: toObject(keys.inputs) ?? {},
    env: toObject(keys.env) ?? NO_VARIABLES,
    secrets: [
      ...new Set([
        ...(keys.secrets ?? []),
        ...keyVariables(entries.flatMap(({ raw }) => (raw === null ? [] : [raw.action]))),
      ]),
    ],
    maxLoops: keys.routing?.max_loops ?? DEFAULT_MAX_LOOPS,
    failurePolicy: keys.failure_policy ?? "finish_independent",
    maxRecoveries: keys.max_recoveries ?? DEFAULT_MAX_RECOVERIES,
    maxItems: keys.max_items ?? DEFAULT_MAX_ITEMS,
    maxLogBytes: keys.max_log ?? DEFAULT_MAX_LOG_BYTES,
    unhandled: unhandled(keys, context),
    failureHandlers: (keys.failure_handlers ?? []).flatMap(({ name, rules }) =>
      name === undefined ? [] : [{ name: name.value, rules }],
    ),
    ...given("hold", keys.hold?.value),
    ...given("timeLimits", timeLimits(keys, context)),
    ...given(
      "schedules",
      keys.schedule?.length ? keys.schedule.map(({ definition }) => definition) : undefined,
    ),
    ...given("notify", keys.notify?.length === 0 ? undefined : keys.notify),
    ...given("concurrency", keys.concurrency),
    ...given("priority", keys.priority),
    ...given("webhook", keys.triggers?.webhook?.definition),
    ...given("breakers", keys.breakers?.length === 0 ? undefined : keys.breakers),
    ...(keys.finally === undefined || keys.finally.length === 0
      ? {}
      : { finally: eachOnce(keys.finally.map(({ value }) => value)) }),
    workspace: keys.workspace ?? null,
    selfHeal: keys.self_heal ?? null,
    queue: keys.queue ?? null,
    ...(Object.keys(userData).length === 0 ? {} : { userData }),
    ...(keys.jobs === undefined ? {} : { batch: { startsIn: keys.cwd ?? "run" } }),
    ...sortMethod(keys),
    ...(keys.resource_monitor == null ? {} : { resourceMonitor: keys.resource_monitor }),
    transitions: normaliseTransitions(keys.transitions ?? []),
    steps: entries.flatMap((entry) =>
      entry.raw === null ? [] : [normaliseStep(entry.id, entry.raw, surroundings)],
    ),
  };
}

function timeLimits({ deadline, warn_after: warnAfter }: WorkflowKeys, context: ReadContext) {
  if (deadline === undefined && warnAfter === undefined) return undefined;
  if (deadline !== undefined && warnAfter !== undefined && warnAfter.value >= deadline.value) {
    const { at, path } = warnAfter;
    const message = "`warn_after` is not before `deadline`, so nobody is ever warned";
    context.findings.error({
      code: "INVALID_VALUE",
      message,
      hint: "Make it shorter, or remove it.",
      at,
      path,
    });
  }
  return { deadlineMs: deadline?.value ?? null, warnAfterMs: warnAfter?.value ?? null };
}

/** `use_pending_failed` says the same in the words of the batch form, which holds by default. */
function unhandled({ unhandled, use_pending_failed: held, jobs }: WorkflowKeys, context: ReadContext) {
  const asked = held && (held.value ? "hold" : "fail");
  if (held !== undefined && unhandled !== undefined && unhandled !== asked) {
    const message = `\`use_pending_failed: ${held.value}\` and \`unhandled: ${unhandled}\` contradict each other`;
    const { at, path } = held;
    context.findings.error({ code: "INVALID_VALUE", message, hint: "Remove one of the two.", at, path });
  }
  return unhandled ?? asked ?? (jobs === undefined ? "fail" : "hold");
}

/** Every step that a `run` list, a transition, `undo` or `finally` names; a default's list too, should no step have it. */
export function routedTargets(
  { routing, transitions = [], finally: last }: WorkflowKeys,
  entries: readonly StepEntry[],
): ReadonlySet<string> {
  const named = new Set(routing?.defaults?.on_fail?.run?.steps?.map((name) => name.value));
  for (const { raw } of entries) {
    for (const name of raw?.keys.on_fail?.run?.steps ?? []) named.add(name.value);
    for (const name of raw?.keys.on_success?.run?.steps ?? []) named.add(name.value);
  }
  for (const { to } of transitions) if (to !== undefined) named.add(to.value);
  for (const id of endingTargets({ finally: last }, entries)) named.add(id);
  return named;
}

/** Every step that `undo` or `finally` names. */
export function endingTargets(
  { finally: last = [] }: Pick<WorkflowKeys, "finally">,
  entries: readonly StepEntry[],
): ReadonlySet<string> {
  const undone = entries.flatMap(({ raw }) => raw?.keys.undo ?? []);
  return new Set([...undone, ...last].map(({ value }) => value));
}

function normaliseTransitions(drafts: readonly TransitionDraft[]): Transition[] {
  return drafts.flatMap(({ from, to, on, priority, when, files, then, inStep }, place) => {
    if (from === undefined || to === undefined) return [];
    const id = place + 1;
    return [
      {
        id,
        from: from.value,
        to: to.value,
        on,
        priority: priority?.value ?? id,
        when: when?.condition ?? null,
        ...given("files", files?.value),
        ...given("then", then),
        ...(inStep ? { inStep } : {}),
      },
    ];
  });
}

function normaliseStep(id: string, raw: RawStep, surroundings: Surroundings): StepDefinition {
  const { named, retryDefaults, references, context } = surroundings;
  const { keys } = raw;
  const { usesWorkspace, progress, selfHeal } = stepHealing(raw, surroundings, context);
  const { timeoutMs, idleTimeoutMs } = healedTimeouts(
    { timeoutMs: readTimeout(raw, context), idleTimeoutMs: keys.idle_timeout_ms ?? null },
    selfHeal,
  );
  const dependsOn = namesOf(dependencyGroups(keys.depends_on));
  if (raw.action.type === "human") refuseKeysOfAttempts(raw, context);
  return {
    id,
    ...given("family", raw.family),
    ...given("description", keys.description),
    action: withShell(raw.action, surroundings.shell),
    dependsOn,
    ...(keys.needs?.value === "settled" && dependsOn.length > 0 ? { needs: keys.needs.value } : {}),
    start: keys.start ?? (dependsOn.length === 0 && named.has(id) ? "routed" : "auto"),
    if: keys.if ?? null,
    env: toObject(keys.env) ?? NO_VARIABLES,
    cwd: keys.cwd ?? null,
    timeoutMs,
    idleTimeoutMs,
    killGraceMs: keys.kill_grace_ms ?? DEFAULT_KILL_GRACE_MS,
    continueOnFailure: keys.continue_on_failure ?? false,
    forEach: keys.forEach ?? false,
    reduce: keys.fanout?.value === "reduce",
    join: keys.join?.value ?? JOIN_ALL,
    onFail: failureRouting(
      raw,
      healedRetry(raw, { defaults: retryDefaults, selfHeal, hasEdge: surroundings.failing.has(id) }),
      context,
    ),
    onSuccess: routing(keys.on_success),
    ...given("undo", keys.undo?.value),
    ...given("failIf", keys.fail_if?.value),
    ...filesOf(keys.files),
    ...userDataOf(raw.userData),
    ...(keys.reuse === false ? { reuse: false } : {}),
    outputSchema: keys.outputs ?? null,
    tags: eachOnce(keys.tags),
    runsOn: eachOnce(keys.runs_on),
    group: keys.group ?? null,
    failureHandler: references.handler(keys.failure_handler),
    ...given("uses", references.breakers(keys.uses)),
    ...given("hold", stepHold(id, raw, surroundings)),
    summarize: keys.summarize ?? null,
    resources: references.resources(keys.resource_requirements),
    usesWorkspace,
    progress,
    noProgressLimit: selfHeal?.stepNoProgressLimit ?? null,
  };
}

/** `[a, "b|c"]` as groups of references that keep their places; a name or group given twice counts once. */
export function dependencyGroups(
  given: readonly Located<string>[] | undefined,
): readonly (readonly Located<string>[])[] {
  if (given === undefined) return NONE;
  const groups = new Map<string, Located<string>[]>();
  for (const { value, at, path } of given) {
    const members = [...new Set(value.split("|").map((member) => member.trim()))];
    const key = members.join("|");
    if (!groups.has(key))
      groups.set(
        key,
        members.map((member) => ({ value: member, at, path })),
      );
  }
  return [...groups.values()];
}

export function namesOf(groups: readonly (readonly Located<string>[])[]): readonly (readonly string[])[] {
  return mapped(groups, (group) => group.map((member) => member.value));
}

function readTimeout(raw: RawStep, context: ReadContext): number | null {
  const { timeout_ms, execution } = raw.keys;
  if (timeout_ms !== undefined && execution?.timeout_ms !== undefined) {
    reportConflict("timeout_ms", "execution.timeout_ms", raw.node, raw.path, context);
  }
  const given = timeout_ms ?? execution?.timeout_ms ?? null;
  const { type, expires } = raw.action;
  if (type !== "human" || typeof expires !== "number") return given;
  if (given !== null) reportConflict("timeout_ms", "expires", raw.node, raw.path, context);
  return expires;
}

function failureRouting(
  raw: RawStep,
  defaults: RetryDraft | undefined,
  context: ReadContext,
): FailureRouting {
  const own = raw.keys.on_fail?.retry;
  const policy = raw.keys.execution?.retry_policy;
  if (own !== undefined && policy !== undefined)
    reportConflict("on_fail.retry", "execution.retry_policy", raw.node, raw.path, context);
  const merged = mergeRetry(own ?? policy, defaults);
  if (own !== undefined && merged?.max === undefined) reportMissingMax(raw, context);
  const retry = toRetryPolicy(merged);
  if (raw.keys.on_fail === undefined && retry === null) return NO_FAILURE_ROUTING;
  const { run, run_max } = raw.keys.on_fail ?? {};
  return { ...routing(raw.keys.on_fail), ...given("runMax", run_max ?? run?.max), retry };
}

/** A person's answer is no attempt that could be judged. */
function refuseKeysOfAttempts({ node, path }: RawStep, { findings }: ReadContext): void {
  for (const key of ["fail_if", "files"]) {
    const entry = findEntry(node, key);
    if (entry === undefined) continue;
    const message = `\`${key}\` does not apply to a \`human\` step`;
    const hint = "Remove it, or route by the answer with `on_success` or a transition.";
    const { keyAt: at } = entry;
    findings.error({ code: "INVALID_VALUE", message, hint, at, path: childPath(path, key) });
  }
}

/** A `retry` that says when and how but not how often would silently do nothing. */
function reportMissingMax(raw: RawStep, context: ReadContext): void {
  const onFail = findEntry(raw.node, "on_fail")?.value;
  const entry = onFail?.kind === "map" ? findEntry(onFail, "retry") : undefined;
  // A `max` that is there but wrong was reported already.
  if (entry?.value.kind !== "map" || findEntry(entry.value, "max") !== undefined) return;
  const path = childPath(childPath(raw.path, "on_fail"), "retry");
  const message = "the key `max` is missing: nothing would be retried";
  context.findings.error({
    code: "MISSING_KEY",
    message,
    hint: "Add `max`, here or in routing.defaults.on_fail.retry.",
    at: entry.keyAt,
    path,
  });
}

function filesOf(files: StepKeys["files"]): Pick<StepDefinition, "files"> {
  if (files === undefined) return {};
  const paths = (given: readonly Located<string>[] | undefined) => eachOnce(given?.map(({ value }) => value));
  return { files: { inputs: paths(files.inputs), outputs: paths(files.outputs) } };
}

function userDataOf(given: RawUserData | undefined): Pick<StepDefinition, "userData"> {
  if (given === undefined) return {};
  const names = (located: readonly Located<string>[]) => eachOnce(located.map(({ value }) => value));
  const data = { inputs: names(given.inputs), outputs: names(given.outputs) };
  return { userData: given.ephemeral ? { ...data, ephemeral: true } : data };
}

function sortMethod({ jobs_sort_method: method }: WorkflowKeys): Pick<Definition, "jobsSortMethod"> {
  return method === undefined || method === "none" ? {} : { jobsSortMethod: method };
}

/** A key that is only there where the file has it: 100,000 steps without one need not say so. */
function given<const K extends string, V>(key: K, value: V | undefined): { readonly [_ in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { readonly [_ in K]: V });
}

/** A list without repetitions. Equal lists of jobs that are made from one text are shared. */
function eachOnce(names: readonly string[] | undefined): readonly string[] {
  if (names === undefined) return NONE;
  const once = new Set(names);
  return once.size === names.length ? names : [...once];
}

function routing(keys: RoutingKeys | undefined): Routing {
  if (keys === undefined) return NO_ROUTING;
  return {
    run: [...new Set((keys.run?.steps ?? []).map((name) => name.value))],
    runJs: keys.run_js ?? null,
    goto: keys.goto?.step?.value ?? null,
    gotoJs: keys.goto_js ?? null,
    gotoMax: keys.goto_max ?? keys.goto?.max ?? null,
    ...given("gotoFiles", keys.goto?.files?.value),
  };
}
