import type { JobDraft, Unfilled } from "../fields/job-fields.js";
import { combine, MAX_JOBS, PARAMETER_NAME } from "../fields/job-parameters.js";
import { checkStepId } from "../fields/step-entries.js";
import { childPath, type Path } from "../read/path.js";
import {
  fillPlaceholders,
  type ParameterValue,
  type ParameterValues,
  placeholdersIn,
} from "../read/placeholders.js";
import type { Located, ReadContext } from "../read/schema.js";
import { findEntry, type SourceMap } from "../read/source-tree.js";
import { didYouMean, quote } from "../read/suggest.js";

/** What one entry of a list becomes: one member for each combination of its parameters' values. */
export interface Family<D extends Draft = Draft> {
  readonly draft: D;
  readonly name: Unfilled;
  readonly parameters: ParameterLists;
  readonly members: readonly Member[];
}

export interface Member {
  readonly id: string;
  /** The values of the parameters in its name. */
  readonly values: ParameterValues;
  /** The values of all parameters, if its name does not have them all: it is one job for all of these. */
  readonly each?: readonly ParameterValues[];
}

/** The values for which a member names others. */
export function combinationsOf({ values, each }: Member): readonly ParameterValues[] {
  return each ?? [values];
}

/** An entry of the batch form that has a name and may have parameters. */
export interface Draft {
  readonly keys: Pick<JobDraft["keys"], "name" | "parameters" | "parameter_mode" | "use_parameters">;
  readonly node: SourceMap;
  readonly path: Path | null;
}

/** What the entries of a list are called, how many there may be, and what a name may look like. */
export interface FamilyKind {
  readonly items: string;
  readonly max: number;
  /** A parameter that the name does not have makes no further members. */
  readonly sharesNames: boolean;
  checkName(name: string, at: number, path: Path | null, context: ReadContext): boolean;
}

export const JOBS: FamilyKind = { items: "jobs", max: MAX_JOBS, sharesNames: true, checkName: checkStepId };

export type ParameterLists = ReadonlyMap<string, readonly ParameterValue[]>;
const NO_PARAMETERS: ParameterLists = new Map();

/** Null once a name or parameters are wrong: then nobody can say which members there are. */
export function buildFamilies<D extends Draft>(
  drafts: readonly D[],
  kind: FamilyKind,
  shared: ParameterLists | undefined,
  context: ReadContext,
): readonly Family<D>[] | null {
  const families: Family<D>[] = [];
  const taken = new Set<string>();
  let sound = true;
  for (const draft of drafts) {
    const family = buildFamily(draft, kind, shared ?? NO_PARAMETERS, context);
    if (family !== null && takeNames(family, kind, taken, context)) families.push(family);
    else sound = false;
    if (taken.size > kind.max) {
      const message = `the file makes more than ${kind.max} ${kind.items}`;
      const hint = "Give fewer values, or split the file.";
      context.findings.error({ code: "INVALID_VALUE", message, hint, at: draft.node.at, path: draft.path });
      return null;
    }
  }
  return sound ? families : null;
}

function buildFamily<D extends Draft>(
  draft: D,
  kind: FamilyKind,
  shared: ParameterLists,
  context: ReadContext,
): Family<D> | null {
  const { name, parameters: given, parameter_mode: mode = "product" } = draft.keys;
  const written = findEntry(draft.node, "parameters");
  const isUnreadable =
    written !== undefined &&
    (written.value.kind !== "map" ||
      written.value.entries.some(({ key }) => !PARAMETER_NAME.test(key) || !given?.has(key)));
  // What is wrong with the name or a parameter was reported already.
  if (name === undefined || isUnreadable) return null;
  const parameters = withShared(given, draft.keys.use_parameters, shared, context);
  if (parameters === null) return null;
  const place = { at: written?.keyAt ?? draft.node.at, path: childPath(draft.path, "parameters") };
  const members: Member[] = [];
  for (const values of combine(parameters, mode, place, context)) {
    const { text, problem } = fillPlaceholders(name.value, values);
    if (problem !== null) return reportUnfillable(problem, name, context);
    if (!kind.checkName(text, name.at, name.path, context)) return null;
    members.push({ id: text, values });
  }
  if (members.length === 0) return null;
  const isOnce = new Set(members.map(({ id }) => id)).size === members.length;
  const family = { draft, name, parameters, members };
  return isOnce || !kind.sharesNames ? family : onePerName(family);
}

/** One member for all combinations that differ only in parameters which the name does not have. */
function onePerName<D extends Draft>({ draft, name, parameters, members }: Family<D>): Family<D> {
  const inName = placeholdersIn(name.value);
  const own = new Map([...parameters].filter(([parameter]) => inName.has(parameter)));
  if (own.size === parameters.size) return { draft, name, parameters, members };
  const found = new Map<string, Member & { each: ParameterValues[] }>();
  for (const { id, values } of members) {
    const ownValues = only(values, own.keys());
    // If two values are written alike in a name, they are two members, which is reported.
    const key = JSON.stringify([...ownValues.values()].map(({ text }) => text));
    const known = found.get(key);
    if (known === undefined) found.set(key, { id, values: ownValues, each: [values] });
    else known.each.push(values);
  }
  return { draft, name, parameters: own, members: [...found.values()] };
}

export function only(values: ParameterValues, names: Iterable<string>): ParameterValues {
  const chosen = new Map();
  for (const name of names) if (values.has(name)) chosen.set(name, values.get(name)!);
  return chosen;
}

/** The file's parameters that are asked for, then the own ones, which win; null where one is unknown. */
function withShared(
  own: ParameterLists | undefined,
  wanted: readonly Located<string>[] | undefined,
  shared: ParameterLists,
  { findings }: ReadContext,
): ParameterLists | null {
  if (wanted === undefined) return own ?? NO_PARAMETERS;
  const all = new Map<string, readonly ParameterValue[]>();
  let sound = true;
  for (const { value: name, at, path } of wanted) {
    const values = shared.get(name);
    if (values !== undefined) {
      all.set(name, values);
      continue;
    }
    const suggestion = didYouMean(findings.suggester.nearest(name, [...shared.keys()]));
    const message = `${quote(name)} is not among the \`parameters\` of the file${suggestion}`;
    findings.error({ code: "INVALID_VALUE", message, hint: "Declare it at the top of the file.", at, path });
    sound = false;
  }
  for (const [name, values] of own ?? NO_PARAMETERS) all.set(name, values);
  return sound ? all : null;
}

export function reportUnfillable(
  problem: string,
  place: Pick<Unfilled, "at" | "path">,
  context: ReadContext,
): null {
  const hint = "Formats are `{i}`, `{i:03d}` for whole numbers, `{x:.2f}` and `{x:.3e}` for numbers.";
  context.findings.error({ code: "INVALID_VALUE", message: problem, hint, at: place.at, path: place.path });
  return null;
}

/** Only one repeated name per family is reported, because the others have the same cause. */
function takeNames(
  { name, parameters, members }: Family,
  { items }: FamilyKind,
  taken: Set<string>,
  context: ReadContext,
): boolean {
  for (const { id } of members) {
    if (!taken.has(id)) {
      taken.add(id);
      continue;
    }
    const message = `two ${items} have the name ${quote(id)}`;
    const hint =
      parameters.size === 0 ? "Rename one of them." : "Put every parameter into the name, as in `train_{i}`.";
    context.findings.error({ code: "DUPLICATE_ID", message, hint, at: name.at, path: name.path });
    return false;
  }
  return true;
}
