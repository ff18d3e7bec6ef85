import { posix } from "node:path";
import type { FailureFacts } from "../../core/model/failure.js";
import { withRemark } from "../../core/model/outcome.js";
import type { Json } from "../../core/text/json.js";
import type { Assignment } from "../worker.js";

/** The exit code of a shell that does not find a command or a script. */
const NOT_FOUND = 127;
/** More words than any command line that a person writes. */
const MAX_WORDS = 100;
const SHORT_COMMIT_CHARS = 8;

/** Whether the failure looks like a missing command. */
export function lacksProgram({ exitCode, errno }: FailureFacts): boolean {
  return exitCode === NOT_FOUND || errno === "ENOENT";
}

/** The words of the step's command that may be files of the repository, as paths from its root. */
export function filesNamedIn({ action, cwd }: Pick<Assignment, "action" | "cwd">): string[] {
  const words = wordsOf(action.exec).slice(0, MAX_WORDS);
  const paths = words.map((word) => posix.normalize(posix.join(cwd, word)));
  return [...new Set(paths)].filter(
    (path) => path !== "." && !path.startsWith("..") && !path.startsWith("/"),
  );
}

function wordsOf(exec: Json | undefined): string[] {
  if (Array.isArray(exec)) return exec.flatMap(wordsOf);
  return typeof exec === "string" ? (exec.match(/[\w@%+.,:/-]+/g) ?? []) : [];
}

/** Adds to the failure why the workspace does not have such a file. */
export function withUncommitted(facts: FailureFacts, files: readonly string[], commit: string): FailureFacts {
  if (files.length === 0) return facts;
  const [are, them] = files.length === 1 ? ["is", "it"] : ["are", "them"];
  const why = `; ${files.join(", ")} ${are} in your working tree, but not in commit ${commit.slice(0, SHORT_COMMIT_CHARS)}, of which the workspace was made: commit ${them}`;
  return withRemark(facts, why);
}
