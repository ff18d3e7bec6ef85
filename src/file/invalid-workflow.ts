import { DarumaError, hideFields } from "../core/errors/errors.js";
import type { Problem } from "./read/problem.js";
import type { Survey } from "./survey.js";

/** A workflow with every problem in it at once. */
export class InvalidWorkflow extends DarumaError {
  constructor(
    /** Null if it was written in a program. */
    readonly file: string | null,
    /** For a workflow that was written in a program, line and column are 0. */
    readonly problems: readonly Problem[],
    /** A drawing of what could be read, where it was asked for. */
    readonly survey: Survey | null = null,
  ) {
    const [first] = problems;
    const count = problems.length === 1 ? "a problem" : `${problems.length} problems`;
    super(first?.code ?? "YAML_SYNTAX", `${file ?? "the workflow"} has ${count}:${told(file, problems)}`, {
      ...(first === undefined ? {} : { hint: first.hint }),
    });
    hideFields(this, ["survey"]);
    // The message of a file with several problems tells only the first.
    if (file === null) hideFields(this, ["file", "problems", "hint"]);
    else if (problems.length < 2) hideFields(this, ["file", "problems"]);
  }
}

/** The command line lists the problems of a file itself; a program that does not look at them has only the message. */
function told(file: string | null, problems: readonly Problem[]): string {
  if (file !== null) return ` ${problems[0]?.message ?? ""}`;
  const lines = problems.map(
    ({ path, message, hint }) =>
      `${path === "" ? "workflow" : path}: ${message}${message.endsWith("?") ? "" : "."} ${hint}`,
  );
  return `\n${lines.join("\n")}`;
}
