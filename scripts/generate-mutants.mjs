// Mutants made by rule: one small change to a condition, a comparison or a number, by the syntax tree.
import ts from "typescript";

const TURNED = new Map([
  ["===", "!=="],
  ["!==", "==="],
  ["<", "<="],
  ["<=", "<"],
  [">", ">="],
  [">=", ">"],
  ["&&", "||"],
  ["||", "&&"],
  ["+", "-"],
  ["-", "+"],
]);

/** Every mutant of a source text: what it is, its line, and which characters it puts something else in place of. */
export function generateMutants(text) {
  const source = ts.createSourceFile("source.ts", text, ts.ScriptTarget.Latest, true);
  const mutants = [];
  const add = (node, put) => {
    const start = node.getStart(source);
    const line = source.getLineAndCharacterOfPosition(start).line + 1;
    const shown = text.slice(start, node.end).replace(/\s+/g, " ").slice(0, 60);
    mutants.push({ what: `${shown} -> ${put.slice(0, 60)}`, line, start, end: node.end, put });
  };
  const visit = (node) => {
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isInterfaceDeclaration(node)) return;
    if (ts.isBinaryExpression(node)) {
      const turned = TURNED.get(node.operatorToken.getText(source));
      const joinsText = [node.left, node.right].some(
        (side) => ts.isStringLiteralLike(side) && turned === "-",
      );
      if (turned !== undefined && !joinsText) add(node.operatorToken, turned);
    }
    if (ts.isIfStatement(node)) add(node.expression, "false");
    if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken)
      add(node, node.operand.getText(source));
    if (node.kind === ts.SyntaxKind.TrueKeyword) add(node, "false");
    if (node.kind === ts.SyntaxKind.FalseKeyword) add(node, "true");
    if (ts.isNumericLiteral(node)) add(node, `${Number(node.text.replaceAll("_", "")) + 1}`);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return mutants;
}
