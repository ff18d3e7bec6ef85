import { DarumaError } from "../../../core/errors/errors.js";
import { readSource } from "../../../operations/workflows/workflow-source.js";
import type { Present } from "../../declare/presenter.js";
import { parseRunReference } from "../../declare/run-reference.js";
import { writeJson, writeText } from "../../terminal/channel.js";

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
