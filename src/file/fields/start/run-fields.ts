import {
  CONCURRENCY_POLICIES,
  MAX_GROUP_CHARS,
  MAX_PRIORITY,
  type RunConcurrency,
} from "../../../core/groups/concurrency.js";
import { VARIABLES } from "../../../core/model/variable-names.js";
import {
  LABEL_KEY,
  LABEL_KEY_RULE,
  LABEL_VALUE,
  LABEL_VALUE_RULE,
  MAX_LABEL_VALUE_CHARS,
  MAX_LABELS,
} from "../../../core/text/labels.js";
import { mapOf, mapped, object, type ReadContext, type Schema } from "../../read/schema.js";
import { number, oneOf, type Scalar, scalarText, type TextOptions, text } from "../../read/schema-scalars.js";
import { quote } from "../../read/suggest.js";
import { checkTemplateText } from "../code-fields.js";

/** More are no limit any more. */
const MAX_PLACES = 10_000;

/** Filled in when a run is made: by then there are inputs and context, and nothing else. */
const checkGroup: NonNullable<TextOptions["check"]> = (group, node, path, context) => {
  checkTemplateText(group, node, path, context);
  for (const name of laterNames(group, context)) {
    const message = `the group reads ${quote(name)}, which is not known when a run is made`;
    const hint = "Use `inputs` and the names of --context.";
    context.findings.error({ code: "INVALID_VALUE", message, hint, at: node.at, path });
  }
};

function laterNames(group: string, { findNames, checkTemplate }: ReadContext): string[] {
  if (!group.includes("{") || checkTemplate(group) !== null) return [];
  const names = findNames?.inTemplate(group)?.reads.map(({ path }) => path[0]!.name) ?? [];
  return [...new Set(names)].filter((name) => name !== "inputs" && name in VARIABLES);
}

/** The key of a workflow. */
export const concurrency = mapped(
  object({
    group: {
      schema: text({
        expected: "a group's name",
        maxChars: MAX_GROUP_CHARS,
        pattern: /^[^\p{Cc}]*$/u,
        rule: "Give a name on one line.",
        check: checkGroup,
      }),
      doc: "Runs of the same group share its places, whatever workflow they are of; templates see `inputs`.",
      required: true,
    },
    limit: {
      schema: number({ min: 1, max: MAX_PLACES, whole: true }),
      doc: "How many runs of the group may be under way at a time.",
      default: 1,
    },
    policy: {
      schema: oneOf(CONCURRENCY_POLICIES),
      doc: "What a new run does if no place is free: wait, cancel the runs before it, or be refused.",
      default: "queue",
    },
  }),
  ({ group = "", limit, policy }): RunConcurrency => ({
    group,
    limit: limit ?? 1,
    policy: policy ?? "queue",
  }),
);

export const priority = number({ min: -MAX_PRIORITY, max: MAX_PRIORITY, whole: true });

const anyNumber = mapOf(
  scalarText({
    expected: "text",
    mayBeEmpty: true,
    maxChars: MAX_LABEL_VALUE_CHARS,
    pattern: LABEL_VALUE,
    rule: LABEL_VALUE_RULE,
  }),
  { keyPattern: LABEL_KEY, keyRule: LABEL_KEY_RULE },
);

export const labels: Schema<ReadonlyMap<string, string>, { readonly [key: string]: Scalar }> = {
  ...anyNumber,
  read(node, path, context) {
    const read = anyNumber.read(node, path, context);
    if (read !== undefined && read.size > MAX_LABELS)
      context.findings.error({
        code: "INVALID_VALUE",
        message: `${read.size} labels are more than ${MAX_LABELS}`,
        hint: "Keep those that you look for runs by.",
        at: node.at,
        path,
      });
    return read;
  },
  json: (definitions) => ({ ...anyNumber.json(definitions), maxProperties: MAX_LABELS }),
};
