import { readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import { Script } from "node:vm";
import { commandWord } from "../declare/command-word.js";
import { cacheFolder } from "./cache-folder.js";
import { keepCompiled, readCompiled } from "./code-cache.js";

interface LoadedProgram<Exports> {
  readonly exports: Exports;
  /** For the next command of this kind. Call it at the end: what was never called has not been compiled. */
  keep(): void;
}

/**
 * Loads the bundled program with what V8 compiled last time, which is half of the time that a short command takes. Node's
 * own compile cache (22.1) would keep less: it is written per file and kept forever, and Node 20 has none.
 */
export function loadProgram<Exports>(
  file: string,
  build: string,
  args: readonly string[],
): LoadedProgram<Exports> {
  if (wantsSourceMaps(args)) return { exports: createRequire(file)(file) as Exports, keep: () => {} };
  const folder = cacheFolder();
  const name = cacheName(file, build, args);
  const cachedData = folder === null ? null : readCompiled(folder, name);
  // The bundle is ASCII: as Latin-1 it needs no decoding. The wrapper stands on the first line, so lines stay right.
  const source = `(function (exports, require, module, __filename, __dirname) {${readFileSync(file, "latin1")}\n})`;
  const script = new Script(source, { filename: file, ...(cachedData === null ? {} : { cachedData }) });
  const module = { exports: {} };
  script.runInThisContext()(module.exports, createRequire(file), module, file, dirname(file));
  const isKept = cachedData !== null && script.cachedDataRejected !== true;
  return {
    exports: module.exports as Exports,
    keep: () => {
      if (folder !== null && !isKept) keepCompiled(folder, name, script.createCachedData());
    },
  };
}

/** V8 compares only lengths of sources, so the name says what the code was made from. npm gives every file one time. */
function cacheName(file: string, build: string, args: readonly string[]): string {
  const { size, mtimeMs } = statSync(file);
  const runtime = [process.version, process.versions.v8, process.platform, process.arch].join("-");
  return [kindOf(args), build, size, Math.floor(mtimeMs), runtime].join("_");
}

const SERVER_WORDS = new Set(["serve", "worker", "mcp"]);

/** Commands of one kind load the same part of the program. */
function kindOf(args: readonly string[]): "run" | "server" | "look" | "words" {
  const word = commandWord(args);
  if (word === "" || word === "init" || args.includes("--help") || args.includes("-h")) return "words";
  if (word === "run" || word === "resume") return "run";
  return SERVER_WORDS.has(word) ? "server" : "look";
}

/** Node maps stacks only of what it loads itself. */
function wantsSourceMaps(args: readonly string[]): boolean {
  const options = [...process.execArgv, ...(process.env.NODE_OPTIONS ?? "").split(" ")];
  if (options.includes("--enable-source-maps")) return true;
  if (!args.includes("--debug")) return false;
  process.setSourceMapsEnabled(true);
  return true;
}
