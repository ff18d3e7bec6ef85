import type { ActionDefinition } from "../../core/model/definition.js";
import { SHELL_WORDS, type WrittenShell } from "../../core/model/shell.js";
import { childPath, type Path } from "../read/path.js";
import { listOf, named, type ReadContext, union } from "../read/schema.js";
import { oneOf, text } from "../read/schema-scalars.js";
import { findEntry, type SourceMap } from "../read/source-tree.js";

const argument = text({
  expected: "an argument",
  asWritten: true,
  pattern: /^(?!.*(?:\{\{|\{%))/s,
  rule: "Write fixed words; a template cannot choose the shell.",
});

const shell = named(
  "shell",
  union(
    oneOf(SHELL_WORDS, ", or a list of a program and its arguments, such as `[zsh, -e, -c]`"),
    listOf(argument, { items: "a program's name and arguments", notEmpty: true }),
  ),
);

export const shellField = {
  schema: shell,
  doc: "What runs the text of `exec`: `sh` stops at the first command that fails, `bash` also at one within a pipe; or a list of a program and its arguments, which gets the text as its last one. By default that of the file.",
} as const;

export const shellOfFile = {
  schema: shell,
  doc: "The `shell` of every step that does not name its own.",
  default: "sh",
} as const;

/** A program that is started from a list has no shell. */
export function refuseShellOfList(
  action: ActionDefinition,
  node: SourceMap,
  path: Path | null,
  context: ReadContext,
): ActionDefinition {
  const entry = findEntry(node, "shell");
  if (entry === undefined || !Array.isArray(action.exec)) return action;
  context.findings.error({
    code: "INVALID_VALUE",
    message: "`shell` does not apply to an `exec` that is a list",
    hint: "Remove it, or write `exec` as text.",
    at: entry.keyAt,
    path: childPath(path, "shell"),
  });
  return action;
}

/** Adds the shell, because the behaviour of a stored definition must not depend on a later default. */
export function withShell(action: ActionDefinition, usual: WrittenShell | null): ActionDefinition {
  const { type, exec, shell = usual } = action;
  const isText = (type === "command" || type === "agent") && typeof exec === "string";
  return isText && shell !== null ? { ...action, shell } : action;
}
