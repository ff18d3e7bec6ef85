import type { Definition } from "../../core/model/definition.js";
import { quote } from "../read/suggest.js";
import { finding, type LintFinding } from "./lint-finding.js";

/** Ways back that take an agent's work from it: it is asked to repair what it no longer finds. */
export function lintFiles({ steps, transitions }: Definition): LintFinding[] {
  const agents = new Set(steps.flatMap(({ id, action }) => (action.type === "agent" ? [id] : [])));
  const ways = [
    ...steps.flatMap(({ id, onFail, onSuccess }) =>
      [{ on: "on_fail", ...onFail } as const, { on: "on_success", ...onSuccess } as const].map(
        ({ on, goto, gotoFiles }) => ({
          to: goto,
          files: gotoFiles,
          what: `the goto of ${quote(id)}`,
          segments: ["steps", id, on, "goto", "files"],
        }),
      ),
    ),
    ...transitions.map(({ id, to, files }) => ({
      to,
      files,
      what: `transition ${id}`,
      segments: ["transitions", id - 1, "files"],
    })),
  ];
  return ways.flatMap(({ to, files, what, segments }) => {
    if (to === null || files !== "restore" || !agents.has(to)) return [];
    const message = `${what} takes back the files of the agent ${quote(to)}, which is asked to repair what it no longer finds`;
    return [finding("RESTORES_AGENT", message, segments, "Write `files: keep`, or remove `files`.")];
  });
}
