import { readFileSync, writeFileSync } from "node:fs";
import { DarumaError } from "../../../core/errors/errors.js";
import type { WorstCase } from "../../../file/lint/worst-case.js";
import type { Problem } from "../../../file/read/problem.js";
import type { InputOf } from "../../../operations/client.js";
import { readSource } from "../../../operations/workflows/workflow-source.js";
import type { Present } from "../../declare/declaration.js";
import { parseRunReference } from "../../declare/typed-names.js";
import { jsonText, writeJson, writeLines, writeText } from "../../terminal/channel.js";
import { EXIT } from "../../terminal/exit-codes.js";
import { problemLines } from "../../terminal/report-error.js";
import { tellCheck } from "./validate.js";

const STANDARD_INPUT = 0;

/** Prints the text of a draft as it was saved. */
export const printDraft: Present = async ({ input }, { out, options }, client) => {
  const draft = await client.call("get_draft", input as InputOf<"get_draft">);
  if (options.json) writeJson(out, draft);
  else writeText(out, draft.source);
  return 0;
};

export const saveDraft: Present = async ({ input, args }, { out, options }, client) => {
  const [name, file] = args as [string, string];
  const source = file === "-" ? readFileSync(STANDARD_INPUT, "utf8") : readSource(file);
  const saved = await client.call("save_draft", { ...input, name, source } as InputOf<"save_draft">);
  if (options.json) writeJson(out, saved);
  else if (!options.quiet) writeLines(out, [`draft ${saved.name} is at revision ${saved.revision}`]);
  return 0;
};

export const checkDraft: Present = async ({ input }, session, client) => {
  const checked = await client.call("validate_draft", input as InputOf<"validate_draft">);
  if (session.options.json) writeJson(session.out, checked);
  else
    tellCheck(
      {
        file: checked.name,
        ok: checked.ok,
        problems: checked.problems as readonly Problem[],
        warnings: checked.warnings as readonly Problem[],
        worst_case: checked.worst_case as WorstCase | null,
        shells: checked.shells,
      },
      session,
    );
  return checked.ok ? EXIT.completed : EXIT.usage;
};

export const publish: Present = async ({ input }, { out, err, options }, client) => {
  const made = await client.call("publish_workflow", input as InputOf<"publish_workflow">);
  if (options.json) writeJson(out, made);
  else if (!options.quiet) {
    if (made.warnings.length > 0)
      writeLines(err, problemLines(made.warnings as readonly Problem[], "warning", err.paint));
    writeLines(out, [`${made.name} version ${made.version} is published`]);
  }
  return 0;
};

export const discardDraft: Present = async ({ input }, { out, options }, client) => {
  const discarded = await client.call("delete_draft", input as InputOf<"delete_draft">);
  if (options.json) writeJson(out, discarded);
  else if (!options.quiet) writeLines(out, [`draft ${discarded.name} is discarded`]);
  return 0;
};

/** Prints the text that a version was published from, or the definition if a run registered it. */
export const showWorkflow: Present = async ({ input }, { out, err, options }, client) => {
  const found = await client.call("get_workflow", input as InputOf<"get_workflow">);
  if (options.json) writeJson(out, found);
  else if (found.source !== null) writeText(out, found.source);
  else {
    if (!options.quiet)
      writeLines(err, [`${found.name} version ${found.version} came from a run; its definition:`]);
    out.write(`${jsonText(found.definition, 2)}\n`);
  }
  return 0;
};

export const schema: Present = async (_given, { out }, client) => {
  out.write(`${JSON.stringify(await client.call("get_workflow_schema", {}), null, 2)}\n`);
  return 0;
};

/** Changes one transition of a file, and prints the result or writes it to the file. */
export const edge: Present = async ({ input, args, flags }, { out, options }, client) => {
  const file = args[0] as string;
  const source = readSource(file);
  const request = { ...input, source, file_name: file } as InputOf<"edit_workflow">;
  const edited = await client.call("edit_workflow", request);
  if (flags.write === true) writeFileSync(file, edited.source);
  if (options.json) writeJson(out, edited);
  else if (flags.write !== true) writeText(out, edited.source);
  else if (!options.quiet) writeLines(out, [`${file} is changed`]);
  return 0;
};

/** Draws a workflow file, a stored workflow, or a run with each step in the colour of its status. */
export const graph: Present = async ({ input, args, flags }, { out, options }, client) => {
  const what = args[0] as string | undefined;
  if ((what === undefined) === (input.workflow === undefined))
    throw new DarumaError("USAGE", "name a workflow file or a run, or add --workflow for a stored workflow");
  const reference = what === undefined ? null : parseRunReference(what);
  const drawn =
    what === undefined
      ? input
      : reference === null
        ? { source: readSource(what), file_name: what }
        : { run_id: reference, ...(input.at === undefined ? {} : { at: input.at as number }) };
  if (input.at !== undefined && reference === null) throw new DarumaError("USAGE", "--at needs a run");
  const picture = await client.call("workflow_graph", {
    ...drawn,
    format: flags.format as "mermaid" | "dot" | "json",
  });
  if (options.json) writeJson(out, picture);
  else writeText(out, picture.text);
  return 0;
};
