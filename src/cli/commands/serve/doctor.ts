import type { InputOf, OutputOf } from "../../../operations/client.js";
import type { Present } from "../../declare/presenter.js";
import { writeJson, writeLines } from "../../terminal/channel.js";
import { EXIT } from "../../terminal/exit-codes.js";

type Checked = OutputOf<"check_health">["checks"][number];

const MARKS = { ok: ["green", "ok"], warning: ["yellow", "warning"], error: ["red", "error"] } as const;

/** Checks the installation. The exit code is 1 if something is wrong; warnings do not count. */
export const doctor: Present = async ({ input }, { out, options }, client) => {
  const answer = await client.call("check_health", input as InputOf<"check_health">);
  const told = (check: Checked): string[] => {
    const [color, mark] = MARKS[check.status];
    const line = `${out.paint(color, mark)} ${check.name}: ${check.message}`;
    return check.fix === null ? [line] : [line, `  fix: ${check.fix}`];
  };
  if (options.json) writeJson(out, answer);
  else
    writeLines(out, [
      ...answer.checks.filter(({ status }) => !options.quiet || status !== "ok").flatMap(told),
      ...(options.quiet ? [] : [summary(answer)]),
    ]);
  return answer.status === "error" ? EXIT.failed : EXIT.completed;
};

function summary({ checks }: OutputOf<"check_health">): string {
  const count = (status: Checked["status"]): number =>
    checks.filter((check) => check.status === status).length;
  const [errors, warnings] = [count("error"), count("warning")];
  if (errors + warnings === 0) return "everything is in order";
  return `${errors} ${errors === 1 ? "error" : "errors"}, ${warnings} ${warnings === 1 ? "warning" : "warnings"}`;
}
