import { Session } from "node:inspector/promises";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

/** Names of functions that ran, by file below the repository's root. */
type Ran = ReadonlyMap<string, ReadonlySet<string>>;

interface FailurePath {
  /** Files in which a function ran that has the failure in its hands. */
  readonly files: readonly string[];
  /** Where the types that they have in their hands declare an exit code: `file: type`. */
  readonly shapes: readonly string[];
}

/** Lists the functions of `src` that ran while `work` did. */
export async function functionsThatRan(root: string, work: () => Promise<void>): Promise<Ran> {
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  try {
    await work();
    const { result } = await session.post("Profiler.takePreciseCoverage");
    const ran = new Map<string, Set<string>>();
    for (const { url, functions } of result) {
      const path = relative(root, url.startsWith("file:") ? fileURLToPath(url) : url);
      if (!path.startsWith("src/") || !path.endsWith(".ts")) continue;
      const names = functions.filter(({ ranges }) => ranges[0]!.count > 0).map((each) => each.functionName);
      ran.set(path, new Set(names.filter((name) => name !== "")));
    }
    return ran;
  } finally {
    session.disconnect();
  }
}

/** Any spelling of the exit code, so that a new name for it is a shape as well. */
const EXIT_CODE = /^(?:exit|return)_?(?:code|status)$/i;

/**
 * Asks the compiler for the type of every expression in the functions that ran. A type that has an exit code is the
 * failure; `Pick`, unions and literals lead back to the declaration that they take it from.
 */
export function failurePath(root: string, ran: Ran, notTheFailure: readonly string[]): FailurePath {
  const config = ts.readConfigFile(join(root, "tsconfig.json"), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config.config, ts.sys, root);
  const program = ts.createProgram(
    [...ran.keys()].map((path) => join(root, path)),
    { ...options, noEmit: true },
  );
  const checker = program.getTypeChecker();
  const [files, shapes] = [new Set<string>(), new Set<string>()];
  const declared = new Map<ts.Type, readonly string[]>();

  const shapesOf = (type: ts.Type): readonly string[] => {
    const known = declared.get(type);
    if (known !== undefined) return known;
    const found = type.isUnion()
      ? type.types.flatMap(shapesOf)
      : checker
          .getPropertiesOfType(type)
          .filter(({ name }) => EXIT_CODE.test(name))
          .flatMap((property) => property.declarations ?? [])
          .map((each) => placeOf(root, each))
          .filter((place) => place !== null);
    declared.set(type, found);
    return found;
  };

  const visit = (node: ts.Node, path: string, runs: boolean): void => {
    const name = ts.isFunctionLike(node) ? nameOf(node) : null;
    const here = name === null ? runs : ran.get(path)!.has(name);
    if (here && (ts.isIdentifier(node) || ts.isPropertyAccessExpression(node)))
      for (const shape of shapesOf(checker.getTypeAtLocation(node))) {
        shapes.add(shape);
        if (!notTheFailure.includes(shape)) files.add(path);
      }
    ts.forEachChild(node, (child) => visit(child, path, here));
  };
  for (const path of ran.keys()) visit(program.getSourceFile(join(root, path))!, path, false);
  return { files: [...files].sort(), shapes: [...shapes].sort() };
}

/** The file and the name of the type, or of the constant that describes it; null: a value in a function, which has the type it is given to. */
function placeOf(root: string, declaration: ts.Declaration): string | null {
  const path = relative(root, declaration.getSourceFile().fileName);
  if (!path.startsWith("src/")) return null;
  for (let holder: ts.Node = declaration; !ts.isSourceFile(holder); holder = holder.parent) {
    if (ts.isInterfaceDeclaration(holder) || ts.isTypeAliasDeclaration(holder))
      return `${path}: ${holder.name.getText()}`;
    if (ts.isVariableDeclaration(holder) && ts.isSourceFile(holder.parent.parent.parent))
      return `${path}: ${holder.name.getText()}`;
  }
  return null;
}

/** As V8 calls it; null where it is part of the function around it. */
function nameOf(node: ts.SignatureDeclaration): string | null {
  if (ts.isConstructorDeclaration(node)) return node.parent.name?.text ?? null;
  if (ts.isGetAccessor(node)) return `get ${node.name.getText()}`;
  if (node.name !== undefined) return node.name.getText();
  const { parent } = node;
  const takesName =
    ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent) || ts.isPropertyDeclaration(parent);
  return takesName ? parent.name.getText() : null;
}
