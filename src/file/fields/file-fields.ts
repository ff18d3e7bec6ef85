import { FILES_POLICIES } from "../../core/model/files-policy.js";
import type { Located } from "../read/schema.js";
import { type Fields, listOf, located, locatedText, mapped, named, object, union } from "../read/schema.js";
import { oneOf, type TextOptions, text } from "../read/schema-scalars.js";
import { type Draft, draftOf } from "./draft.js";
import { parameters } from "./job-parameters.js";

const MAX_PATH_CHARS = 4_000;
const MAX_NAME_CHARS = 1_000;

/** Dependencies follow from paths, so they must stand fast when the file is read. */
const withoutTemplates: NonNullable<TextOptions["check"]> = (path, node, place, { findings }) => {
  if (!path.includes("{{") && !path.includes("{%")) return;
  const message = "a file's path cannot have templates: who needs it is found when the workflow is read";
  findings.error({ code: "INVALID_VALUE", message, hint: "Write the path out.", at: node.at, path: place });
};

const filePath = text({
  expected: "a path",
  asWritten: true,
  maxChars: MAX_PATH_CHARS,
  check: withoutTemplates,
});

const one = located(filePath);
const paths = union(
  mapped(one, (path): readonly Located<string>[] => [path]),
  listOf(one, { items: "paths" }),
);

/** What happens to a workspace's files when a goto or a transition goes back. */
export const filesPolicy = located(oneOf(FILES_POLICIES));

/** The files of a step. */
export const stepFiles = named(
  "files",
  object({
    inputs: {
      schema: paths,
      doc: "Files that must be there; the step that has one as an output comes first.",
    },
    outputs: {
      schema: paths,
      doc: "Files that the step makes; one that is missing afterwards is a failure.",
    },
  }),
);

const nameOrPattern = locatedText(text({ expected: "a name", asWritten: true, maxChars: MAX_NAME_CHARS }));
const regularExpression = locatedText(
  text({ expected: "a regular expression", asWritten: true, maxChars: MAX_NAME_CHARS }),
);
export const namesOfBatch = listOf(nameOrPattern, { items: "names" });
export const regularExpressions = listOf(regularExpression, { items: "regular expressions" });

/** Keys by which an entry of a list of the batch form becomes many. */
export const FAMILY_FIELDS = {
  parameters: {
    schema: parameters,
    doc: "One is made for each value: `1:3`, `0:100:10`, or a list.",
  },
  parameter_mode: {
    schema: oneOf(["product", "zip"]),
    doc: "`product`: every combination of values. `zip`: the values side by side.",
    default: "product",
  },
  use_parameters: {
    schema: listOf(located(text({ asWritten: true, maxChars: MAX_NAME_CHARS })), {
      items: "parameters' names",
    }),
    doc: "Parameters of the file's own `parameters` that this one has too; its own win over them.",
  },
} as const satisfies Fields;

const FILE_FIELDS = {
  name: {
    schema: locatedText(text({ expected: "a file's name", asWritten: true, maxChars: MAX_NAME_CHARS })),
    doc: "The name by which jobs refer to the file; with parameters a pattern such as `data_{i}`.",
    required: true,
  },
  path: {
    schema: locatedText(filePath),
    doc: "Where it lies; a relative path starts at the run's folder.",
    required: true,
  },
  ...FAMILY_FIELDS,
} as const satisfies Fields;

/** A file of the batch form as it is written: one for all values of its parameters. */
export type FileDraft = Draft<typeof FILE_FIELDS>;

/** What Torc keeps of a file besides. */
const UNREAD = new Map([
  ["st_mtime", "files are compared by their contents, not by their times"],
  ["must_exist", "a job whose input file is missing fails before it begins in any case"],
  ["identifier", "a file is known by its path and its SHA-256"],
]);

export const files = listOf(
  draftOf("file", FILE_FIELDS, () => {}, { unread: { why: UNREAD } }),
  { items: "files" },
);
