import type { UserData } from "../../core/model/batch/user-data.js";
import type { ActionDefinition } from "../../core/model/definition.js";
import { BASH_OR_SH, type WrittenShell } from "../../core/model/shell.js";
import { NONE } from "../../core/model/sparse-lists.js";
import { checkTemplate } from "../fields/code-fields.js";
import type { FileDraft } from "../fields/file-fields.js";
import type { JobDraft, Unfilled } from "../fields/job-fields.js";
import type { StepKeys } from "../fields/read-step.js";
import { reportConflict } from "../fields/retry-fields.js";
import type { StepEntry } from "../fields/step-entries.js";
import type { ActionDraft } from "../fields/trigger-fields.js";
import type { UserDataDraft } from "../fields/user-data-fields.js";
import { fillPlaceholders, placeholdersIn } from "../read/placeholders.js";
import type { Located, ReadContext } from "../read/schema.js";
import { quote } from "../read/suggest.js";
import type { WatchedAction } from "./action-steps.js";
import {
  buildFamilies,
  type Family,
  JOBS,
  type Member,
  type ParameterLists,
  reportUnfillable,
} from "./families.js";
import { JobDependencies, MAX_DEPENDENCIES, reportTooManyDependencies } from "./job-dependencies.js";
import { buildJobFiles } from "./job-files.js";
import type { SchedulerUse } from "./job-schedulers.js";
import { buildJobUserData } from "./job-user-data.js";
import { checkReferences } from "./named-items.js";

/** What a file of the batch form says of its jobs. */
interface Batch {
  readonly jobs: readonly JobDraft[];
  readonly files: readonly FileDraft[] | undefined;
  readonly user_data: readonly UserDataDraft[] | undefined;
  readonly parameters: ParameterLists | undefined;
  readonly actions: readonly ActionDraft[] | undefined;
  readonly shell: WrittenShell | typeof BASH_OR_SH | undefined;
}

/** The jobs as steps, with what else the file says of them by their names. */
export interface ExpandedBatch extends SchedulerUse {
  readonly userData: UserData;
}

/** The batch form as steps; null where it is open which jobs there are, which was reported. */
export function expandJobs(
  { jobs, files, user_data, parameters, actions = [], shell: usual = BASH_OR_SH }: Batch,
  context: ReadContext,
): ExpandedBatch | null {
  context.findings.tellOncePerPlace();
  const families = buildFamilies(jobs, JOBS, parameters, context);
  const jobFiles = buildJobFiles(files ?? [], parameters, context);
  const jobUserData = buildJobUserData(user_data ?? [], parameters, context);
  if (families === null || jobFiles === null || jobUserData === null) return null;
  const dependencies = new JobDependencies(families, context);
  const entries: StepEntry[] = [];
  const named = new Map<string, Located<string>>();
  for (const family of families) {
    const { depends_on: given = [], depends_on_regexes: patterns = [] } = family.draft.keys;
    const flawed = new Set<Unfilled>();
    const keysOf = keysOfMembers(family.draft, flawed, context);
    checkSpellings(family.draft, context);
    refuseSharedParameters(family, context);
    checkReferences([family.draft.keys.invocation_script, family.draft.keys.command], context);
    for (const [place, member] of family.members.entries()) {
      const needed = [
        ...dependencies.resolve(given, member),
        ...dependencies.resolvePatterns(patterns, member),
      ];
      if (dependencies.count > MAX_DEPENDENCIES)
        return reportTooMany([...given, ...patterns], family, context);
      if (family.draft.keys.scheduler !== undefined) named.set(member.id, family.draft.keys.scheduler);
      const own = { depends_on: needed, files: jobFiles.of(family.draft, member) };
      const withPaths = (text: string) => jobFiles.fill(text, member);
      const { shell = usual } = family.draft.keys;
      const filling = { member, isFirst: place === 0, withPaths, shell };
      const entry = toEntry(family, filling, keysOf(own, filling), flawed, context);
      const userData = jobUserData.of(family.draft, member);
      entries.push(userData === undefined ? entry : { ...entry, raw: { ...entry.raw!, userData } });
    }
  }
  jobUserData.checkGiven(entries);
  const watched = watchedActions(actions, dependencies, context);
  return { entries, userData: jobUserData.initial, named, actions: watched };
}

function watchedActions(
  drafts: readonly ActionDraft[],
  dependencies: JobDependencies,
  context: ReadContext,
): readonly WatchedAction[] {
  const watched: WatchedAction[] = [];
  let count = 0;
  for (const [index, draft] of drafts.entries()) {
    const { jobs: names = [], job_name_regexes: patterns = [] } = draft.keys;
    const jobs = dependencies.select(names, patterns);
    count += jobs.length;
    if (count > MAX_DEPENDENCIES) return reportTooManyDependencies(draft.node.at, draft.path, context) ?? [];
    // Problems with the names have already been reported, and jobs that do not exist never do anything.
    if (jobs.length > 0 || names.length + patterns.length === 0)
      watched.push({ draft, place: index + 1, jobs });
  }
  return watched;
}

/** Two ways to write one thing. */
function checkSpellings({ keys, node, path }: JobDraft, context: ReadContext): void {
  if (keys.cancel_on_blocking_job_failure !== undefined && keys.needs !== undefined)
    reportConflict("cancel_on_blocking_job_failure", "needs", node, path, context);
  if (keys.supports_termination?.value === false && keys.kill_grace_ms !== undefined)
    reportConflict("supports_termination", "kill_grace_ms", node, path, context);
  if (keys.scheduler !== undefined && keys.runs_on !== undefined)
    reportConflict("scheduler", "runs_on", node, path, context);
}

function reportTooMany(given: readonly Located<string>[], { draft }: Family, context: ReadContext): null {
  const { at, path } = given[0] ?? { at: draft.node.at, path: draft.path };
  return reportTooManyDependencies(at, path, context);
}

function toEntry(
  { draft, name }: Family<JobDraft>,
  filling: Filling,
  keys: StepKeys,
  flawed: Set<Unfilled>,
  context: ReadContext,
): StepEntry {
  const { invocation_script: invocation, command } = draft.keys;
  const fill = (text: Unfilled) => fillText(text, true, filling, flawed, context);
  const action: ActionDefinition = {
    exec: [invocation, command].flatMap((part) => (part === undefined ? [] : [fill(part)])).join(" "),
    type: "command",
    shell: filling.shell,
  };
  return {
    id: filling.member.id,
    at: name.at,
    path: draft.path,
    raw: { keys, family: familyName(name, filling.member), action, node: draft.node, path: draft.path },
    unsure: draft.unsure,
  };
}

/** A name that has a parameter is that of a family, also where it has one member today. */
function familyName({ value }: Unfilled, { id }: Member): string | undefined {
  return value === id ? undefined : value;
}

type OwnKeys = Pick<StepKeys, "depends_on" | "files">;
const NOTHING_OWN = {
  depends_on: NONE,
  files: undefined,
  description: undefined,
  env: undefined,
  cwd: undefined,
} as const satisfies Partial<StepKeys>;

/** The keys of a step that say the same for every member of a family. */
function commonKeys({ keys }: Pick<JobDraft, "keys">): Omit<StepKeys, keyof typeof NOTHING_OWN> {
  const {
    name: _name,
    parameters: _parameters,
    parameter_mode: _mode,
    use_parameters: _used,
    depends_on: _dependencies,
    depends_on_regexes: _patterns,
    input_files: _inputs,
    input_file_regexes: _inputPatterns,
    output_files: _outputs,
    output_file_regexes: _outputPatterns,
    input_user_data: _dataInputs,
    input_user_data_regexes: _dataInputPatterns,
    output_user_data: _dataOutputs,
    output_user_data_regexes: _dataOutputPatterns,
    supports_termination: orderly,
    cancel_on_blocking_job_failure: canceled,
    invocation_script: _invocation,
    scheduler: _scheduler,
    shell: _shell,
    command: _command,
    env: _env,
    cwd: _cwd,
    description: _description,
    ...shared
  } = keys;
  return {
    type: undefined,
    forEach: undefined,
    fanout: undefined,
    join: undefined,
    execution: undefined,
    ...shared,
    needs:
      canceled === undefined
        ? shared.needs
        : { ...canceled, value: canceled.value ? "completed" : "settled" },
    kill_grace_ms: orderly?.value === false ? 0 : shared.kill_grace_ms,
  };
}

/**
 * The keys of each member. Members share them where they say nothing of their own: of 100,000 jobs they are most of what
 * reading takes.
 */
function keysOfMembers({ keys }: JobDraft, flawed: Set<Unfilled>, context: ReadContext) {
  const { description, env, cwd } = keys;
  const common = commonKeys({ keys });
  const isAlike = (description ?? env ?? cwd) === undefined;
  const shared: StepKeys = { ...NOTHING_OWN, ...common };
  return (own: OwnKeys, filling: Filling): StepKeys => {
    if (isAlike && own.depends_on?.length === 0 && own.files === undefined) return shared;
    const fill = (text: Unfilled) => fillText(text, false, filling, flawed, context);
    return {
      depends_on: own.depends_on,
      files: own.files,
      description: description && fill(description),
      env: env && new Map([...env].map(([variable, value]) => [variable, fill(value)])),
      cwd: cwd && fill(cwd),
      ...common,
    };
  };
}

interface Filling {
  readonly member: Member;
  readonly isFirst: boolean;
  /** A command with paths in the place of the names of files. */
  readonly withPaths: (text: string) => string;
  readonly shell: WrittenShell | typeof BASH_OR_SH;
}

/** `flawed` has the texts in which something was found already: the other members have it too. */
function fillText(
  given: Unfilled,
  shell: boolean,
  { member, isFirst, withPaths }: Filling,
  flawed: Set<Unfilled>,
  context: ReadContext,
): string {
  const { value, node, path } = given;
  const { text, problem } = fillPlaceholders(shell ? withPaths(value) : value, member.values);
  if (flawed.has(given)) return text;
  const before = context.findings.errors.length;
  if (problem !== null) reportUnfillable(problem, given, context);
  const filled = { job: member.id, values: member.values };
  // A text without placeholders is the same for every member; one look is enough.
  if (text !== value || isFirst)
    checkTemplate({ language: "template", text, node, path, shell, filled }, context);
  if (context.findings.errors.length > before) flawed.add(given);
  return text;
}

/** A parameter that the name of a job does not have stands for all of its values at once: only lists can take it. */
function refuseSharedParameters(
  { draft: { keys }, name, members }: Family<JobDraft>,
  context: ReadContext,
): void {
  const all = members[0]?.each?.[0];
  if (all === undefined) return;
  const inName = placeholdersIn(name.value);
  const texts = [
    keys.command,
    keys.invocation_script,
    keys.cwd,
    keys.description,
    ...(keys.env?.values() ?? []),
  ];
  for (const text of texts.filter((given): given is Unfilled => given !== undefined)) {
    const shared = [...placeholdersIn(text.value)].find((used) => all.has(used) && !inName.has(used));
    if (shared === undefined) continue;
    const written = `{${shared}}`;
    context.findings.error({
      code: "INVALID_VALUE",
      message: `${quote(written)} has no single value here: the job's name does not have it, so one job stands for all its values`,
      hint: `Put ${quote(written)} into the name to make a job for each value, or remove it here.`,
      at: text.at,
      path: text.path,
    });
  }
}
