// Compiles a thread's TypeScript under the tests, where nothing is built. Only `thread-file.ts` names this file, and
// only when it is TypeScript itself; the built product never loads it.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const cache = fileURLToPath(new URL("../../node_modules/.cache/daruma/threads/", import.meta.url));

export async function resolve(specifier, context, nextResolve) {
  if (/^(\.|file:)/.test(specifier) && specifier.endsWith(".js")) {
    const built = new URL(specifier, context.parentURL);
    const source = new URL(built.href.replace(/\.js$/, ".ts"));
    if (!existsSync(built) && existsSync(source))
      return { url: source.href, format: "module", shortCircuit: true };
  }
  return nextResolve(specifier, context);
}

export async function load(url, context, nextLoad) {
  if (!url.endsWith(".ts")) return nextLoad(url, context);
  return { format: "module", shortCircuit: true, source: await compile(readFileSync(new URL(url), "utf8")) };
}

/** The compiler takes 0.2 s to load, more than all else a thread does at its start: keep what it gave. */
async function compile(source) {
  const file = `${cache}${createHash("sha256").update(source).digest("hex")}.js`;
  if (existsSync(file)) return readFileSync(file, "utf8");
  const { default: ts } = await import("typescript");
  const { outputText } = ts.transpileModule(source, {
    compilerOptions: {
      target: ts.ScriptTarget.ES2023,
      module: ts.ModuleKind.ESNext,
      verbatimModuleSyntax: true,
    },
  });
  mkdirSync(cache, { recursive: true });
  const unfinished = `${file}.${process.pid}.${process.hrtime.bigint()}`;
  writeFileSync(unfinished, outputText);
  renameSync(unfinished, file);
  return outputText;
}
