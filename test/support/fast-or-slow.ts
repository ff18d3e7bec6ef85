import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

/** What makes a test slow: a process, a thread or a database, in it or in anything that it imports. */
const SLOW_MODULES = ["node:child_process", "node:worker_threads", "postgres"];
/** Modules that import one of these and start nothing in the tests. */
const HARMLESS = new Map([
  ["src/store/sqlite/packed-rows.ts", "makes a queue between threads, and no thread"],
  [
    "src/store/lease-owner.ts",
    "asks `ps` only where there is no /proc and no process of this machine is found",
  ],
]);
const IMPORTS =
  /^\s*(?:import|export)\s+(?!type\s)[^;'"]*?from\s+["']([^"']+)["']|\bimport\(?\s*["']([^"']+)["']/gm;
const MOCKS = /^vi\.(?:mock|doMock)\(/m;

/** Not needed for every change: `npm run test:all` runs these, and `.ci/run --all`; `.ci/run` names them. */
export function longTests(root: string): readonly string[] {
  return JSON.parse(readFileSync(join(root, "test/support/long-tests.json"), "utf8")) as string[];
}

export interface TestKinds {
  readonly fast: readonly string[];
  readonly slow: readonly string[];
  /** Slow, and replaces a module: the others of its worker must not see that. */
  readonly apart: readonly string[];
  readonly long: readonly string[];
}

/** Every test file below `root`, by what its imports can reach. */
export function sortTests(root: string): TestKinds {
  const reaches = new Reach((path) => {
    const file = join(root, path);
    return existsSync(file) ? readFileSync(file, "utf8") : null;
  });
  const listed = longTests(root);
  const fast: string[] = [];
  const slow: string[] = [];
  const apart: string[] = [];
  const long: string[] = [];
  for (const folder of ["src", "test", "web/src"])
    for (const name of readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })) {
      if (!name.endsWith(".test.ts")) continue;
      const path = `${folder}/${name}`;
      if (listed.includes(path)) long.push(path);
      else if (reaches.isFast(path)) fast.push(path);
      else (reaches.replacesModules(path) ? apart : slow).push(path);
    }
  return { fast: fast.sort(), slow: slow.sort(), apart: apart.sort(), long: long.sort() };
}

/** Follows imports from file to file. `read` gives the text at a path, or null where there is no such file. */
export class Reach {
  private readonly imports = new Map<string, readonly string[]>();

  constructor(private readonly read: (path: string) => string | null) {}

  /** Fast tests share one set of loaded modules, so that one which replaces a module is not among them. */
  isFast(path: string): boolean {
    return this.slowModule(path) === null && !this.replacesModules(path);
  }

  replacesModules(path: string): boolean {
    return MOCKS.test(this.read(path) ?? "");
  }

  /** The way from a file to what makes it slow, or null: it cannot start anything. */
  slowModule(path: string): readonly string[] | null {
    const cameFrom = new Map<string, string | null>([[path, null]]);
    for (const current of cameFrom.keys()) {
      if (SLOW_MODULES.includes(current)) return wayTo(current, cameFrom);
      for (const next of this.importsOf(current)) if (!cameFrom.has(next)) cameFrom.set(next, current);
    }
    return null;
  }

  private importsOf(path: string): readonly string[] {
    const known = this.imports.get(path);
    if (known !== undefined) return known;
    const text = path.endsWith(".ts") && !HARMLESS.has(path) ? this.read(path) : null;
    const found = text === null ? [] : importsIn(text).map((name) => resolveImport(path, name));
    this.imports.set(path, found);
    return found;
  }
}

function importsIn(text: string): string[] {
  return [...text.matchAll(IMPORTS)].map((match) => match[1] ?? match[2] ?? "");
}

function resolveImport(from: string, name: string): string {
  return name.startsWith(".") ? normalize(join(dirname(from), name)).replace(/\.js$/, ".ts") : name;
}

function wayTo(end: string, cameFrom: ReadonlyMap<string, string | null>): readonly string[] {
  const way: string[] = [];
  for (let at: string | null = end; at !== null; at = cameFrom.get(at) ?? null) way.unshift(at);
  return way;
}
