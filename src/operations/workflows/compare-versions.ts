import { z } from "zod";
import { DarumaError } from "../../core/errors/errors.js";
import type { Definition } from "../../core/model/definition.js";
import { type DiffLine, diffTexts } from "../../core/text/diff-lines.js";
import { InvalidWorkflow } from "../../file/invalid-workflow.js";
import { CHANGED_STEP, compareDefinitions } from "../../tell/compare-runs.js";
import type { Context } from "../context.js";
import { operation } from "../operation.js";
import { recordOf } from "../schemas.js";
import { draftName, fileOf, requireDraft } from "./drafts.js";
import { storedDefinition, storedWorkflow } from "./stored-workflows.js";
import { readTextIn } from "./workflow-source.js";

const DRAFT = "draft";
const CONTEXT_LINES = 3;
const MAX_LINES = 2_000;

const which = z.union([z.literal(DRAFT), z.coerce.number().int().positive()]);

export const compareVersions = operation({
  name: "compare_versions",
  summary: "compare two versions of a workflow, or a version with the draft",
  description:
    "Says what changes from one version of a workflow to another, or to its draft: keys, steps, and the lines of the text.",
  role: "viewer",
  effect: "reads",
  audience: "people",
  input: z.strictObject({
    name: draftName,
    from: which.optional().describe("A version, or draft; by default the newest version."),
    to: which.optional().describe("A version, or draft; by default the draft."),
  }),
  output: z.object({
    name: z.string(),
    from: which,
    to: which,
    definition: z
      .object({
        keys: z.array(z.string()).describe("Keys of the workflow that differ, besides steps."),
        steps: z.array(recordOf(CHANGED_STEP)),
      })
      .nullable()
      .describe("Null: the draft has problems."),
    lines: z
      .array(
        z.object({
          kind: z.enum(["same", "removed", "added", "skipped"]),
          before: z.number().nullable(),
          after: z.number().nullable(),
          text: z.string(),
        }),
      )
      .nullable()
      .describe(
        "Those that differ and some around them; null: a run registered a version, without its text.",
      ),
    left_off: z.number().describe("More lines than are given."),
  }),
  rest: { method: "GET", path: "/workflows/{name}/comparison" },
  cli: [
    {
      words: "workflow compare",
      positional: ["name"],
      examples: ["daruma workflow compare release", "daruma workflow compare release --from 1 --to 3"],
    },
  ],
  handler: async (context, { name, from, to = DRAFT }) => {
    const [before, after] = [await textOf(context, name, from), await textOf(context, name, to)];
    const changes =
      before.definition === null || after.definition === null
        ? null
        : compareDefinitions(before.definition, after.definition);
    const lines =
      before.source === null || after.source === null
        ? null
        : aroundChanges(diffTexts(before.source, after.source));
    return {
      name,
      from: before.which,
      to: after.which,
      definition: changes && {
        keys: changes.keys,
        steps: changes.steps,
      },
      lines: lines?.slice(0, MAX_LINES) ?? null,
      left_off: Math.max(0, (lines?.length ?? 0) - MAX_LINES),
    };
  },
});

interface Compared {
  readonly which: number | typeof DRAFT;
  readonly source: string | null;
  readonly definition: Definition | null;
}

async function textOf(
  context: Context,
  name: string,
  which: number | typeof DRAFT | undefined,
): Promise<Compared> {
  if (which !== DRAFT) {
    const row = await storedWorkflow(context.store, name, which);
    const { definition } = await storedDefinition(context.store, row);
    return { which: row.version, source: row.source, definition };
  }
  const { source } = await requireDraft(context.store, name);
  return { which, source, definition: await definitionOf(context, source, name) };
}

async function definitionOf(context: Context, source: string, name: string): Promise<Definition | null> {
  try {
    return (await readTextIn(context, source, { file: fileOf(name), folder: "/" })).definition;
  } catch (error) {
    if (error instanceof InvalidWorkflow) return null;
    if (error instanceof DarumaError && error.code === "WORKFLOW_TOO_LARGE") return null;
    throw error;
  }
}

type ShownLine = Omit<DiffLine, "kind"> & { readonly kind: DiffLine["kind"] | "skipped" };

/** What lies between two changes becomes one line that says how many were left out. */
function aroundChanges(lines: readonly DiffLine[]): ShownLine[] {
  const near = new Uint8Array(lines.length);
  for (const [at, { kind }] of lines.entries())
    if (kind !== "same") near.fill(1, Math.max(0, at - CONTEXT_LINES), at + CONTEXT_LINES + 1);
  const shown: ShownLine[] = [];
  for (let at = 0; at < lines.length; at++) {
    if (near[at] === 1) {
      shown.push({ ...lines[at]! });
      continue;
    }
    const next = near.indexOf(1, at);
    const count = (next === -1 ? lines.length : next) - at;
    shown.push({ kind: "skipped", before: null, after: null, text: `${count} lines are the same` });
    at += count - 1;
  }
  return shown;
}
