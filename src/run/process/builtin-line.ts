/**
 * Command lines that a subshell of a shell which is already there can run in place of a new `sh -c`, because nothing in
 * them could tell the difference: only built-ins, only literal words. There is no `$` (so no `$$`, no `$PPID`, no
 * environment to read), no redirection, no substitution, no background job and no other program. Everything else gets
 * a shell of its own.
 */
// One character at a time: nested repetition would make the test exponential for some lines.
const WORD = /(?:[\w./,:+@%=-]|'[^'\n]*'|"[^"\n$`\\!]*")+/.source;
const COMMAND = `(?:true|false|:|exit(?: +(?:[0-9]|[1-9][0-9]|1[0-9][0-9]|2[0-4][0-9]|25[0-5]))?|echo(?: +${WORD})*)`;
const BUILTIN_LINE = new RegExp(`^ *${COMMAND}(?: *(?:;|&&|\\|\\|) *${COMMAND})* *\\n?$`);

/** Beyond this a line is not worth looking at, and would not fit into a pipe at once. */
const MAX_LINE_CHARS = 1_000;

export function isBuiltinLine(line: string): boolean {
  return line.length <= MAX_LINE_CHARS && BUILTIN_LINE.test(line);
}
