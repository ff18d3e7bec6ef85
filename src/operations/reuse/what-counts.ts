import { isDeepStrictEqual } from "node:util";
import { actionTraits } from "../../core/model/action-traits.js";
import type { Definition, StepDefinition } from "../../core/model/definition.js";
import type { Json } from "../../core/text/json.js";
import { NamesRead } from "./names-read.js";
import type { NeverReused, WhyItRuns } from "./reasons.js";

/** What a run is made of, as far as it can change what a step does. */
export interface RunMaterial {
  readonly definition: Definition;
  readonly inputs: { readonly [name: string]: Json };
  readonly context: { readonly [name: string]: Json };
  readonly folder: string;
}

type Part = (step: StepDefinition, workflow: Definition) => unknown;

/**
 * The keys beside those of the action that change what a step does or what follows from its success. Descriptions,
 * labels, time limits, resources and all that answers failures are left out: they do not change a success.
 */
const COUNTED: { readonly [key: string]: Part } = {
  depends_on: ({ dependsOn }) => dependsOn.map((group) => group.toSorted().join("|")).toSorted(),
  needs: ({ needs }) => needs ?? "completed",
  start: ({ start }) => start,
  if: (step) => step.if,
  env: ({ env }, workflow) => ({ ...workflow.env, ...env }),
  cwd: ({ cwd }) => cwd,
  forEach: ({ forEach }) => forEach,
  fanout: ({ reduce }) => reduce,
  join: ({ join }) => join,
  files: ({ files }) => [files?.inputs.toSorted() ?? [], files?.outputs.toSorted() ?? []],
  user_data: ({ userData }, workflow) => [
    userData?.outputs.toSorted() ?? [],
    // The reader of a value depends on its writer. A value without a writer is in the file.
    userData?.inputs.toSorted().map((name) => [name, workflow.userData?.[name] ?? null]) ?? [],
  ],
  fail_if: ({ failIf }) => failIf ?? null,
  outputs: ({ outputSchema }) => outputSchema,
  on_success: ({ onSuccess }) => onSuccess,
  workspace: ({ usesWorkspace }) => usesWorkspace,
};

/** Only where a text of the step reads them. */
const LABELS: { readonly [key: string]: Part } = { tags: ({ tags }) => tags, group: ({ group }) => group };

/** Compares the steps of a new run with those of an older one. */
export class Comparison {
  private readonly names: NamesRead;
  private readonly oldSteps: ReadonlyMap<string, StepDefinition>;
  private readonly oldEdges: ReadonlyMap<string, readonly unknown[]>;
  private readonly newEdges: ReadonlyMap<string, readonly unknown[]>;
  /** What makes every step run. */
  private readonly everywhere: WhyItRuns | null;

  constructor(
    private readonly old: RunMaterial,
    private readonly now: RunMaterial,
  ) {
    this.oldSteps = new Map(old.definition.steps.map((step) => [step.id, step]));
    this.oldEdges = successEdges(old.definition);
    this.newEdges = successEdges(now.definition);
    this.names = new NamesRead(now.definition);
    this.everywhere = changedEverywhere(old, now);
  }

  /** Why a step cannot be what it was; null: as far as its text and its variables go, it is. */
  whyChanged(step: StepDefinition): WhyItRuns | null {
    const before = this.oldSteps.get(step.id);
    if (before === undefined) return { kind: "new_step" };
    const because = neverReused(step);
    if (because !== null) return { kind: "never", because };
    if (this.everywhere !== null) return this.everywhere;
    const keys = this.changedKeys(before, step);
    if (keys.length > 0) return { kind: "definition", keys };
    return this.changedValues("inputs", step) ?? this.changedValues("context", step);
  }

  /** The steps whose outputs the step names. */
  outputsReadBy(step: StepDefinition): readonly string[] {
    return this.names.of(step).outputs;
  }

  private changedKeys(before: StepDefinition, step: StepDefinition): string[] {
    const actionKeys = new Set([...Object.keys(step.action), ...Object.keys(before.action)]);
    const keys = [...actionKeys].filter((key) => !isDeepStrictEqual(before.action[key], step.action[key]));
    const counted = this.names.of(step).labels ? { ...COUNTED, ...LABELS } : COUNTED;
    for (const [key, part] of Object.entries(counted))
      if (!isDeepStrictEqual(part(before, this.old.definition), part(step, this.now.definition)))
        keys.push(key);
    if (!isDeepStrictEqual(this.oldEdges.get(step.id), this.newEdges.get(step.id))) keys.push("transitions");
    return keys;
  }

  private changedValues(kind: "inputs" | "context", step: StepDefinition): WhyItRuns | null {
    const [before, now] = [this.old[kind], this.now[kind]];
    const read = this.names.of(step)[kind];
    const names = read === "all" ? [...new Set([...Object.keys(before), ...Object.keys(now)])] : read;
    const changed = names.filter((name) => !isDeepStrictEqual(before[name], now[name]));
    return changed.length === 0 ? null : { kind, names: changed };
  }
}

/** A new secret may stand in plain text in what was recorded before it was one. */
function changedEverywhere(old: RunMaterial, now: RunMaterial): WhyItRuns | null {
  if (old.folder !== now.folder) return { kind: "folder" };
  const [before, after] = [old.definition.secrets.toSorted(), now.definition.secrets.toSorted()];
  return isDeepStrictEqual(before, after) ? null : { kind: "secrets" };
}

/** Whatever has changed or not. */
function neverReused({ reuse, action, usesWorkspace, userData }: StepDefinition): NeverReused | null {
  if (reuse === false) return "reuse_false";
  if (userData?.ephemeral === true) return "ephemeral_data";
  const { doneBy } = actionTraits(action.type);
  if (doneBy === "person") return "human";
  // Its file may have changed, and all that its steps read.
  if (doneBy === "server") return "child_workflow";
  return usesWorkspace ? "workspace" : null;
}

/**
 * Transitions on success by step, in the order in which they are tried. Their ids do not count, because these are only
 * positions in the file.
 */
function successEdges({ transitions }: Definition): Map<string, unknown[]> {
  const edges = new Map<string, unknown[]>();
  const ordered = transitions
    .filter(({ on }) => on !== "failure")
    .toSorted((a, b) => a.priority - b.priority);
  for (const { from, to, on, when } of ordered) {
    const found = edges.get(from) ?? [];
    edges.set(from, [...found, { to, on, when }]);
  }
  return edges;
}
