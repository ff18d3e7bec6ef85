import { DarumaError } from "../../../core/errors/errors.js";
import type { InputOf, OutputOf } from "../../../operations/client.js";
import { listNames, nameOf } from "../../../tell/lookup/job-name.js";
import type { Present } from "../../declare/presenter.js";
import { tableLines } from "../../render/table.js";
import { writeJson, writeLines } from "../../terminal/channel.js";

const SHORT_ID_CHARS = 12;

/** Prints only the path if a program reads it, so that `cd "$(daruma workspace 3)"` works. A person sees more. */
export const workspace: Present = async ({ input }, { out, options }, client) => {
  const found = await client.call("get_workspace", input as InputOf<"get_workspace">);
  if (options.json) {
    writeJson(out, found);
    return 0;
  }
  if (found.path === null)
    throw new DarumaError("WORKSPACE_NOT_FOUND", `the workspace of run ${found.run_id} does not exist yet`);
  writeLines(out, [found.path]);
  if (out.isTerminal && !options.quiet) writeLines(out, detailLines(found, out.width()));
  return 0;
};

function detailLines(found: OutputOf<"get_workspace">, width: number): string[] {
  const { commit, at_work, resets, checkpoints } = found;
  const rows = checkpoints.map((each) => [
    String(each.ordinal),
    nameOf(each.step, each.scope),
    String(each.attempt),
    (each.diff_hash ?? "no change").slice(0, SHORT_ID_CHARS),
    `${listNames(each.changed_files, (file) => file)}${each.superseded ? " (superseded)" : ""}`,
  ]);
  return [
    ...found.notes.map(({ message }) => `warning: ${message}`),
    `began at ${commit?.slice(0, SHORT_ID_CHARS) ?? "no commit"}; hard resets: ${resets}${at_work === null ? "" : `; at work: ${at_work}`}`,
    ...(rows.length === 0
      ? ["no checkpoints"]
      : tableLines(["checkpoint", "step", "attempt", "diff", "files"], rows, width)),
    ...found.partials.map(
      ({ step, scope, attempt, files, patch }) =>
        `set aside: ${nameOf(step, scope)}, attempt ${attempt}, ${files} ${files === 1 ? "file" : "files"}: ${patch}`,
    ),
  ];
}
