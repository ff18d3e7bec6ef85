import { posix } from "node:path";
import ts from "typescript";
import {
  parse,
  productFiles,
  readImports,
  readUrls,
  resolveImport,
  type SourceText,
  walk,
} from "./source-imports.js";

const MAX_FILE_LINES = 400;

/** Files that may be longer: a catalogue is looked up, not read through, and one place to look beats short files. */
export const CATALOGUES: readonly { readonly path: string; readonly reason: string }[] = [
  {
    path: "src/core/errors/errors.ts",
    reason: "every error code that a user can see, with what it means and what to do next",
  },
  {
    path: "src/core/model/events.ts",
    reason: "every event that can stand in a log, with the parts that events are made of",
  },
];
const DUMP_NAMES = new Set(["utils", "util", "helpers", "helper", "common", "types", "misc"]);
const PURE_FOLDERS = new Set(["core", "file"]);
const NPM_ALLOWED_IN_PURE_FOLDERS = new Map([
  // A digest is a function of its input, and theirs is audited and faster than one written here.
  // Which time a pattern matches next is a function of pattern and time; its timers are not used.
  ["core", new Set(["@noble/hashes/sha2.js", "@noble/hashes/utils.js", "croner"])],
  ["file", new Set(["yaml"])],
]);
const IMPURE_GLOBALS = new Set([
  "setTimeout",
  "setInterval",
  "setImmediate",
  "queueMicrotask",
  "process",
  "performance",
  "crypto",
  "fetch",
]);

/** `core` and `file` decide; they do no I/O and know no clock, no chance and no waiting. */
export function findImpurities(files: readonly SourceText[]): string[] {
  const violations: string[] = [];
  for (const file of productFiles(files)) {
    const folder = folderOf(file.path);
    if (folder === null || !PURE_FOLDERS.has(folder)) continue;
    for (const { specifier } of readImports(file)) {
      if (specifier.startsWith(".")) continue;
      if (NPM_ALLOWED_IN_PURE_FOLDERS.get(folder)?.has(specifier)) continue;
      violations.push(`${file.path} imports ${specifier}`);
    }
    walk(parse(file), (node, place) => {
      const impurity = describeImpurity(node);
      if (impurity !== null) violations.push(`${file.path}:${place} uses ${impurity}`);
    });
  }
  return violations;
}

function describeImpurity(node: ts.Node): string | null {
  if (node.kind === ts.SyntaxKind.AsyncKeyword) return "async";
  if (ts.isAwaitExpression(node)) return "await";
  // Of a given time it is only another way to write it.
  if (ts.isNewExpression(node) && node.expression.getText() === "Date" && !node.arguments?.length)
    return "new Date()";
  if (ts.isCallExpression(node) && node.expression.getText() === "Date") return "Date()";
  if (ts.isPropertyAccessExpression(node)) {
    const text = `${node.expression.getText()}.${node.name.text}`;
    if (text === "Date.now" || text === "Math.random") return text;
  }
  if (ts.isIdentifier(node) && IMPURE_GLOBALS.has(node.text) && isFreeValue(node)) return node.text;
  return null;
}

/** An identifier that is read as a value: not a property's or a declaration's name, an import or a type. */
function isFreeValue(node: ts.Identifier): boolean {
  const parent = node.parent;
  if ("name" in parent && parent.name === node && !ts.isShorthandPropertyAssignment(parent)) return false;
  return !ts.isTypeNode(parent) && !ts.isQualifiedName(parent) && !ts.isImportSpecifier(parent);
}

export function findDefaultExports(files: readonly SourceText[]): string[] {
  const violations: string[] = [];
  for (const file of files.filter(({ text }) => /\bdefault\b|\bexport\s*=/.test(text))) {
    walk(parse(file), (node, place) => {
      const isDefault =
        node.kind === ts.SyntaxKind.DefaultKeyword && !ts.isDefaultClause(node.parent)
          ? true
          : ts.isExportAssignment(node) || (ts.isExportSpecifier(node) && node.name.text === "default");
      if (isDefault) violations.push(`${file.path}:${place} has a default export`);
    });
  }
  return violations;
}

export function findAnyTypes(files: readonly SourceText[]): string[] {
  const violations: string[] = [];
  for (const file of files.filter(({ text }) => /\bany\b/.test(text))) {
    walk(parse(file), (node, place) => {
      if (node.kind === ts.SyntaxKind.AnyKeyword) violations.push(`${file.path}:${place} uses the type any`);
    });
  }
  return violations;
}

export function findLongFiles(files: readonly SourceText[]): string[] {
  return files.flatMap((file) => {
    if (CATALOGUES.some(({ path }) => path === file.path)) return [];
    const lines = file.text.replace(/\n$/, "").split("\n").length;
    return lines > MAX_FILE_LINES ? [`${file.path} has ${lines} lines, over ${MAX_FILE_LINES}`] : [];
  });
}

export function findDumpFiles(paths: readonly string[]): string[] {
  return paths.filter((path) =>
    DUMP_NAMES.has(
      posix
        .basename(path)
        .replace(/\.test\.tsx?$|\.[a-z]+$/, "")
        .toLowerCase(),
    ),
  );
}

/** Files that no entry point leads to, by import or by `new URL("./x.js", import.meta.url)` (threads, assets). */
export function findDeadFiles(files: readonly SourceText[], entries: readonly string[]): string[] {
  const product = new Map(productFiles(files).map((file) => [file.path, file]));
  const reached = new Set<string>();
  const open = entries.filter((entry) => product.has(entry));
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    const file = product.get(path);
    if (file === undefined || reached.has(path)) continue;
    reached.add(path);
    for (const specifier of [...readImports(file).map((entry) => entry.specifier), ...readUrls(file)]) {
      const target = resolveImport(path, specifier);
      if (target !== null) open.push(target);
    }
  }
  return [...product.keys()].filter((path) => !reached.has(path)).sort();
}

/** Codes without a row in the document, and rows without a code. */
export function compareErrorsDocument(codes: readonly string[], document: string): string[] {
  const rows = new Set([...document.matchAll(/^\| `([A-Z0-9_]+)` \|/gm)].map((match) => match[1] ?? ""));
  return [
    ...codes.filter((code) => !rows.has(code)).map((code) => `${code} has no row in docs/errors.md`),
    ...[...rows]
      .filter((row) => !codes.includes(row))
      .map((row) => `${row} of docs/errors.md is not in the catalogue`),
  ];
}

/** Built from parts so that this file keeps its own rule. */
const REGISTRY_HOST = new RegExp(
  [
    "registry\\.[a-z0-9-]+\\.(?:org|com|net|dev)",
    "npm\\.pkg\\.[a-z]+\\.com",
    "registry\\.npmmirror",
    "files\\.pythonhosted",
  ].join("|"),
  "i",
);
const LOCAL_PATH = /(?:^|[\s"'`(=:[])\/(?:home|Users|root|work)\/[\w.-]+/m;

/** A download address or somebody's folder in a tracked file works on one machine only. */
export function findLocalTraces(files: readonly SourceText[]): string[] {
  return files.flatMap((file) => {
    const violations: string[] = [];
    if (REGISTRY_HOST.test(file.text)) violations.push(`${file.path} names a package registry`);
    const path = LOCAL_PATH.exec(file.text);
    if (path !== null) violations.push(`${file.path} names a local folder: ${path[0].trim()}`);
    return violations;
  });
}

function folderOf(path: string): string | null {
  const parts = path.split("/");
  return parts.length > 2 ? (parts[1] ?? null) : null;
}
