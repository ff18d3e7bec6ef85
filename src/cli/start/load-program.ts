import { readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { Script } from "node:vm";
import { commandWord } from "../declare/command-word.js";
import { cacheFolder } from "./cache-folder.js";
import { keepCompiled, readCompiled } from "./code-cache.js";

interface LoadedProgram<Exports> {
  readonly exports: Exports;
  /**
   * Saves compiled code for the next command of this kind. Call it at the end, because functions are compiled on their
   * first call.
   */
  keep(): void;
}

/**
 * Loads the bundled program with the code that V8 compiled last time, which saves half the time of a short command.
 * Node's own compile cache (22.1) would save less: it is written per file and kept forever, and Node 20 has none.
 */
export function loadProgram<Exports>(
  file: string,
  build: string,
  args: readonly string[],
): LoadedProgram<Exports> {
  if (wantsSourceMaps(args)) return { exports: createRequire(file)(file) as Exports, keep: () => {} };
  const parts = new ProgramParts(cacheFolder(), build, kindOf(args));
  return { exports: parts.load(file) as Exports, keep: () => parts.keep() };
}

/** A smaller file is compiled faster than it is read from the cache. */
const MIN_KEPT_CHARS = 16_384;

/** The files of the program. Each is loaded when another requires it, and its code is cached separately. */
class ProgramParts {
  readonly #loaded = new Map<string, { exports: unknown }>();
  readonly #unkept: (() => void)[] = [];

  constructor(
    private readonly folder: string | null,
    private readonly build: string,
    private readonly kind: string,
  ) {}

  load(file: string): unknown {
    const known = this.#loaded.get(file);
    if (known !== undefined) return known.exports;
    const module = { exports: {} };
    this.#loaded.set(file, module);
    const require = createRequire(file);
    const requirePart = (name: string): unknown =>
      name.startsWith("./") ? this.load(join(dirname(file), name)) : require(name);
    const wrapper = this.#compile(file).runInThisContext();
    wrapper(module.exports, Object.assign(requirePart, require), module, file, dirname(file));
    return module.exports;
  }

  keep(): void {
    for (const keep of this.#unkept) keep();
  }

  #compile(file: string): Script {
    // The bundle is ASCII, which needs no decoding as Latin-1. The wrapper is on the first line, so line numbers stay
    // right.
    const text = readFileSync(file, "latin1");
    const source = `(function (exports, require, module, __filename, __dirname) {${text}\n})`;
    if (this.folder === null || text.length < MIN_KEPT_CHARS) return new Script(source, { filename: file });
    const { folder } = this;
    const name = cacheName(file, this.build, this.kind);
    const cachedData = readCompiled(folder, name);
    const script = new Script(source, { filename: file, ...(cachedData === null ? {} : { cachedData }) });
    if (cachedData === null || script.cachedDataRejected === true)
      this.#unkept.push(() => keepCompiled(folder, name, script.createCachedData()));
    return script;
  }
}

/**
 * The cache's file name. V8 only compares the length of sources, so the name identifies what was compiled. npm gives
 * every file the same time.
 */
function cacheName(file: string, build: string, kind: string): string {
  const { size, mtimeMs } = statSync(file);
  const runtime = [process.version, process.versions.v8, process.platform, process.arch].join("-");
  return [kind, basename(file, ".js"), build, size, Math.floor(mtimeMs), runtime].join("_");
}

const SERVER_WORDS = new Set(["serve", "worker", "mcp"]);

/** Commands of one kind load the same part of the program. */
function kindOf(args: readonly string[]): "run" | "server" | "look" | "words" {
  const word = commandWord(args);
  if (word === "" || word === "init" || args.includes("--help") || args.includes("-h")) return "words";
  if (word === "run" || word === "resume") return "run";
  return SERVER_WORDS.has(word) ? "server" : "look";
}

/** Whether Node was asked to use source maps, which it only does for files that it loads itself. */
function wantsSourceMaps(args: readonly string[]): boolean {
  const options = [...process.execArgv, ...(process.env.NODE_OPTIONS ?? "").split(" ")];
  if (options.includes("--enable-source-maps")) return true;
  if (!args.includes("--debug")) return false;
  process.setSourceMapsEnabled(true);
  return true;
}
