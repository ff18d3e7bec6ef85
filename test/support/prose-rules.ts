import ts from "typescript";
import type { SourceText } from "./source-imports.js";

/** Where sentences are made: nothing there may look for a pattern, except in what others have written. */
const ROOMS_OF_WORDS = ["src/tell/", "src/cli/render/", "src/core/decide/ladder/"];
/** Inside of them, where addresses and formats of other programs are read. */
const ROOMS_OF_FORMATS = ["src/tell/channels/", "src/tell/metrics/"];

interface Allowed {
  readonly path: string;
  readonly reason: string;
}

/** Files of these rooms that look for a pattern in texts that are not ours. */
export const PATTERNS_ALLOWED: readonly Allowed[] = [
  { path: "src/tell/words/shell-word.ts", reason: "whether a shell reads a word as it is" },
  { path: "src/tell/lookup/choose-job.ts", reason: "whether somebody typed a number" },
  { path: "src/tell/lookup/job-name.ts", reason: "the name of a scope" },
  { path: "src/tell/resources/resource-groups.ts", reason: "numbers in the names of steps" },
  { path: "src/tell/words/patch-lines.ts", reason: "the hunks of a patch that git wrote" },
  { path: "src/tell/run-summary.ts", reason: "the end of what a step printed" },
  { path: "src/cli/render/paint.ts", reason: "escape sequences in what others have written" },
  { path: "src/cli/render/step-output.ts", reason: "what a step printed" },
  { path: "src/cli/terminal/channel.ts", reason: "what a step printed" },
  { path: "src/cli/render/columns.ts", reason: "how wide a terminal shows a character" },
];

/** Files that compare a text with words of another program. */
export const WORDS_OF_OTHERS: readonly Allowed[] = [
  { path: "src/run/sandbox/evaluate-in-quickjs.ts", reason: "how QuickJS says that its memory is full" },
  { path: "src/run/sandbox/render-step.ts", reason: "how Liquid says that a limit is reached" },
  { path: "src/run/workspace/run-store.ts", reason: "how git says that an object is missing" },
];

const LOOKING = new Set([
  "startsWith",
  "endsWith",
  "includes",
  "indexOf",
  "match",
  "search",
  "replace",
  "replaceAll",
  "split",
]);

/** Patterns where sentences are made, and texts compared with a sentence anywhere. */
export function findParsedProse(files: readonly SourceText[]): string[] {
  const violations: string[] = [];
  for (const file of files) {
    const liesIn = (rooms: readonly string[]): boolean => rooms.some((room) => file.path.startsWith(room));
    const isRoom = liesIn(ROOMS_OF_WORDS) && !liesIn(ROOMS_OF_FORMATS);
    const mayMatch = !isRoom || PATTERNS_ALLOWED.some(({ path }) => path === file.path);
    const mayCompare = WORDS_OF_OTHERS.some(({ path }) => path === file.path);
    const source = ts.createSourceFile(file.path, file.text, ts.ScriptTarget.Latest, true);
    const visit = (node: ts.Node): void => {
      const what = (mayMatch ? null : patternIn(node)) ?? (mayCompare ? null : comparedSentence(node));
      if (what !== null) {
        const { line } = source.getLineAndCharacterOfPosition(node.getStart(source));
        violations.push(`${file.path}:${line + 1} ${what}`);
      }
      ts.forEachChild(node, visit);
    };
    visit(source);
  }
  return violations;
}

function patternIn(node: ts.Node): string | null {
  if (ts.isRegularExpressionLiteral(node)) return `has the pattern ${node.text}`;
  const isMade = ts.isNewExpression(node) && node.expression.getText() === "RegExp";
  return isMade ? "makes a pattern" : null;
}

function comparedSentence(node: ts.Node): string | null {
  if (ts.isBinaryExpression(node) && EQUALITY.has(node.operatorToken.kind)) {
    const sentence = [node.left, node.right].find(isSentence);
    return sentence === undefined ? null : `compares with ${sentence.getText()}`;
  }
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return null;
  const sentence = LOOKING.has(node.expression.name.text)
    ? node.arguments.slice(0, 1).find(isSentence)
    : undefined;
  return sentence === undefined ? null : `looks for ${sentence.getText()}`;
}

const EQUALITY = new Set([ts.SyntaxKind.EqualsEqualsEqualsToken, ts.SyntaxKind.ExclamationEqualsEqualsToken]);

/** A text with a word and a space: kinds, names and codes have none. */
function isSentence(node: ts.Node): boolean {
  if (!ts.isStringLiteralLike(node) && !ts.isTemplateExpression(node)) return false;
  const own = node.getText().replace(/\$\{[^}]*\}/g, "");
  return own.includes(" ") && /[A-Za-z]{2}/.test(own);
}
