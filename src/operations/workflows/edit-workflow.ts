import { z } from "zod";
import { DarumaError } from "../../core/errors/errors.js";
import { ROUTE_ENDS } from "../../core/model/route.js";
import type { Json } from "../../core/text/json.js";
import { differenceOf, editText, type TransitionKeys, type WorkflowEdit } from "../../file/edit/edit-text.js";
import { operation } from "../operation.js";
import { fileName, source } from "../schemas.js";

const stepId = z.string().min(1).max(200).optional();

const input = z.strictObject({
  action: z.enum(["add", "change", "remove"]).describe("What to do with the edge."),
  kind: z
    .enum(["transition", "depends_on"])
    .default("transition")
    .describe("`depends_on`: `to` waits for `from`, or no longer does; only with add and remove."),
  source,
  file_name: fileName,
  transition: z.coerce
    .number()
    .int()
    .min(1)
    .optional()
    .describe("Which transition: its number in the list, from 1; not with `add`."),
  from: stepId.describe("The step whose end is watched, or that is waited for (`depends_on`)."),
  to: stepId.describe("The step that runs then, or that waits (`depends_on`)."),
  on: z.enum(["success", "failure", "any"]).optional().describe("The outcome that it is tried for."),
  priority: z
    .union([z.null(), z.coerce.number().int().min(0)])
    .optional()
    .describe("Lower numbers are tried first; null: its position in the list."),
  when: z
    .unknown()
    .optional()
    .describe("A condition as a workflow file has it, or JavaScript; null: no condition."),
  then: z
    .union([z.null(), z.enum(ROUTE_ENDS)])
    .optional()
    .describe("What becomes of a failure when its route has completed; null: the file does not say."),
});

const EXAMPLES = {
  add: [
    "daruma edge add release.yaml --from deploy --to roll-back --on failure --then fail --write",
    "daruma edge add release.yaml --kind depends_on --from build --to test --write",
  ],
  change: ["daruma edge change release.yaml --transition 2 --priority 1"],
  remove: [
    "daruma edge remove release.yaml --transition 2 --write",
    "daruma edge remove release.yaml --kind depends_on --from build --to test --write",
  ],
} as const;

export const editWorkflow = operation({
  name: "edit_workflow",
  summary: "add, change or remove an edge in a workflow text",
  description:
    "Returns a workflow text with one transition added, changed or removed, or with one step that waits for another or no longer does. Everything else stays as it is written, comments included. Nothing is stored; the result may have problems.",
  role: "viewer",
  effect: "reads",
  audience: "people",
  input,
  output: z.object({
    source: z.string().describe("The whole text."),
    edit: z
      .object({ from: z.number(), to: z.number(), text: z.string() })
      .describe("The same as one change of the text that was given, by offsets in UTF-16 units."),
  }),
  rest: { method: "POST", path: "/workflows/edit" },
  cli: (["add", "change", "remove"] as const).map((action) => ({
    words: `edge ${action}`,
    summary: `${action === "remove" ? "remove an edge from" : `${action} an edge in`} a workflow file`,
    positional: [],
    preset: { action },
    examples: EXAMPLES[action],
  })),
  store: "none",
  handler: async ({ workflowReader }, request) => {
    const { source, file_name: file } = request;
    const edit = editOf(request);
    const edited = (await workflowReader?.edit(source, edit, file)) ?? editText(source, edit, file);
    return { source: edited, edit: differenceOf(source, edited) };
  },
});

function editOf(request: z.output<typeof input>): WorkflowEdit {
  const { action, kind, transition, from, to, on, priority, when, then } = request;
  if (kind === "depends_on") return dependsOf(request);
  const keys: TransitionKeys = {
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
    ...(on === undefined ? {} : { on }),
    ...(priority === undefined ? {} : { priority }),
    ...(when === undefined ? {} : { when: when as Json }),
    ...(then === undefined ? {} : { then }),
  };
  if (action === "add") {
    if (from === undefined || to === undefined || transition !== undefined)
      throw new DarumaError("INVALID_INPUT", "to add a transition, give from and to, and no number");
    return { action, keys };
  }
  if (transition === undefined)
    throw new DarumaError("INVALID_INPUT", "transition is missing: the number of the transition, from 1");
  if (action === "change") return { action, transition, keys };
  if (Object.keys(keys).length > 0)
    throw new DarumaError("INVALID_INPUT", "to remove a transition, give its number and nothing else");
  return { action, transition };
}

function dependsOf({
  action,
  from,
  to,
  transition,
  on,
  priority,
  when,
  then,
}: z.output<typeof input>): WorkflowEdit {
  const hasMore = [transition, on, priority, when, then].some((given) => given !== undefined);
  if (action === "change" || from === undefined || to === undefined || hasMore)
    throw new DarumaError(
      "INVALID_INPUT",
      "depends_on can be added or removed; give from and to, and nothing else",
    );
  return { action: action === "add" ? "depend" : "release", from, to };
}
