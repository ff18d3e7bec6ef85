import { posix } from "node:path";
import ts from "typescript";

/** A file as the rules see it: its path from the repository's root, with forward slashes, and its text. */
export interface SourceText {
  readonly path: string;
  readonly text: string;
}

interface Import {
  readonly specifier: string;
  /** Nothing of it is left at run time. */
  readonly typesOnly: boolean;
  /** By `import()`: loaded when the call is reached. */
  readonly lazy?: true;
}

export function isTestFile(path: string): boolean {
  return /\.test\.tsx?$/.test(path);
}

export function productFiles(files: readonly SourceText[]): SourceText[] {
  return files.filter((file) => file.path.startsWith("src/") && !isTestFile(file.path));
}

/** The path in the repository that a relative specifier names, or null for packages. */
export function resolveImport(from: string, specifier: string): string | null {
  if (!specifier.startsWith(".")) return null;
  return posix.join(posix.dirname(from), specifier).replace(/\.js$/, ".ts");
}

const read = new WeakMap<SourceText, readonly Import[]>();

/** Read once: every rule about imports asks for them. */
export function readImports(file: SourceText): readonly Import[] {
  const known = read.get(file) ?? findImports(file);
  read.set(file, known);
  return known;
}

function findImports(file: SourceText): Import[] {
  const imports: Import[] = [];
  walk(parse(file), (node) => {
    if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier)) {
      imports.push({
        specifier: node.moduleSpecifier.text,
        typesOnly: node.importClause?.isTypeOnly === true,
      });
    } else if (
      ts.isExportDeclaration(node) &&
      node.moduleSpecifier !== undefined &&
      ts.isStringLiteral(node.moduleSpecifier)
    ) {
      imports.push({ specifier: node.moduleSpecifier.text, typesOnly: node.isTypeOnly });
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const argument = node.arguments[0];
      if (argument !== undefined && ts.isStringLiteralLike(argument))
        imports.push({ specifier: argument.text, typesOnly: false, lazy: true });
    } else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
      const literal = node.argument.literal;
      if (ts.isStringLiteral(literal)) imports.push({ specifier: literal.text, typesOnly: true });
    }
  });
  return imports;
}

export function readUrls(file: SourceText): string[] {
  const urls: string[] = [];
  walk(parse(file), (node) => {
    if (!ts.isNewExpression(node) || node.expression.getText() !== "URL") return;
    const [path, base] = node.arguments ?? [];
    if (path !== undefined && ts.isStringLiteralLike(path) && base?.getText() === "import.meta.url")
      urls.push(path.text);
  });
  return urls;
}

const parsed = new WeakMap<SourceText, ts.SourceFile>();

export function parse(file: SourceText): ts.SourceFile {
  let tree = parsed.get(file);
  if (tree === undefined) {
    tree = ts.createSourceFile(file.path, file.text, ts.ScriptTarget.ES2023, true);
    parsed.set(file, tree);
  }
  return tree;
}

export function walk(tree: ts.SourceFile, visit: (node: ts.Node, line: number) => void): void {
  const step = (node: ts.Node): void => {
    visit(node, tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1);
    ts.forEachChild(node, step);
  };
  step(tree);
}
