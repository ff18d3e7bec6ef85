import type { Definition } from "../../core/model/definition.js";
import { quote } from "../read/suggest.js";
import { finding, type LintFinding } from "./lint-finding.js";

/** All but the first would be skipped, as that one is not over yet. */
export function lintSchedules({ schedules = [] }: Definition): LintFinding[] {
  return schedules.flatMap(({ id, catchUp, overlap }) => {
    if (catchUp !== "all" || overlap !== "skip") return [];
    const message = `\`catch_up: all\` of the schedule ${quote(id)} makes up for one run only: with \`overlap: skip\` the others are skipped while it runs`;
    return [finding("NO_EFFECT", message, ["schedule"], "Write `overlap: allow`, or `catch_up: last`.")];
  });
}
