import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { ERROR_CATALOGUE } from "../src/core/errors/errors.js";
import {
  CATALOGUES,
  compareErrorsDocument,
  findAnyTypes,
  findDeadFiles,
  findDefaultExports,
  findDumpFiles,
  findImpurities,
  findLocalTraces,
  findLongFiles,
} from "./support/architecture-rules.js";
import { drawRooms } from "./support/room-picture.js";
import { findCycles, findUpwardTables, findWrongImports, KNOWN_CYCLES } from "./support/room-rules.js";
import { parseRoomTable } from "./support/room-tables.js";
import type { SourceText } from "./support/source-imports.js";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const ENTRIES = ["src/index.ts", "src/flow/testing/test-flow.ts", "src/cli/main.ts"];
/** Loaded by a worker thread under a name that is put together at run time, so no import leads to them. */
const THREAD_ENTRIES = ["src/run/sandbox/quickjs-thread.ts", "src/store/sqlite/sqlite-thread.ts"];

/** Tracked files and new ones that are not ignored, so that a rule speaks before the commit. */
function listTrackedFiles(): string[] {
  const listing = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: root,
    encoding: "utf8",
  });
  return [...new Set(listing.split("\0"))].filter((path) => path !== "" && existsSync(join(root, path)));
}

function readFiles(paths: readonly string[]): SourceText[] {
  return paths.map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));
}

const tracked = listTrackedFiles();
const sources = readFiles(tracked.filter((path) => path.startsWith("src/") && path.endsWith(".ts")));
const tests = readFiles(tracked.filter((path) => path.startsWith("test/") && path.endsWith(".ts")));

const file = (path: string, text: string): SourceText => ({ path, text });

describe("the code keeps its architecture", () => {
  it("imports point one way", () => {
    expect(findWrongImports(sources)).toEqual([]);
  });

  it("no file imports itself by way of others", () => {
    expect(findCycles(sources)).toEqual([]);
  });

  it("the tables of the rooms point one way", () => {
    expect(findUpwardTables()).toEqual([]);
  });

  it("ARCHITECTURE.md draws the rooms as they are (npm run docs:architecture)", () => {
    expect(readFileSync(join(root, "ARCHITECTURE.md"), "utf8")).toContain(drawRooms(sources));
  });

  it("core and file are pure", () => {
    expect(findImpurities(sources)).toEqual([]);
  });

  it("nothing is exported as default", () => {
    expect(findDefaultExports([...sources, ...tests])).toEqual([]);
  });

  it("nothing has the type any", () => {
    expect(findAnyTypes([...sources, ...tests])).toEqual([]);
  });

  it("no file but a catalogue is longer than 400 lines", () => {
    expect(findLongFiles([...sources, ...tests])).toEqual([]);
  });

  it("no file is a dump of odds and ends", () => {
    expect(findDumpFiles(tracked)).toEqual([]);
  });

  it.skipIf(!ENTRIES.every((entry) => existsSync(join(root, entry))))(
    "every source file is reached from the library or the command line",
    () => {
      expect(findDeadFiles(sources, [...ENTRIES, ...THREAD_ENTRIES])).toEqual([]);
    },
  );

  it("every error code has its row in docs/errors.md and every row its code", () => {
    const document = readFileSync(join(root, "docs/errors.md"), "utf8");
    expect(compareErrorsDocument(Object.keys(ERROR_CATALOGUE), document)).toEqual([]);
  });

  it("docs/errors.md says what the catalogue says", () => {
    const result = spawnSync(process.execPath, ["scripts/write-errors-doc.mjs", "--check"], {
      cwd: root,
      encoding: "utf8",
    });
    expect(result.stderr + result.stdout).toBe("docs/errors.md is up to date\n");
    expect(result.status).toBe(0);
  });

  it("no tracked file names a package registry or a folder of one machine", () => {
    expect(findLocalTraces(readFiles(tracked))).toEqual([]);
  });
});

describe("the import rule", () => {
  const verdict = (path: string, text: string) => findWrongImports([file(path, text)]);

  it("lets a room use what its table names, and itself", () => {
    expect(
      verdict("src/run/engine/engine.ts", 'import { decide } from "../../core/decide/decide.js";'),
    ).toEqual([]);
    expect(verdict("src/store/sqlite/store.ts", 'import { a } from "../store.js";')).toEqual([]);
    expect(verdict("src/cli/run.ts", 'import { openStore } from "../store/open.js";')).toEqual([]);
    expect(verdict("src/index.ts", 'export { Engine } from "./run/engine/engine.js";')).toEqual([]);
  });

  it("refuses any other room, whichever way it is named", () => {
    const reason =
      "src/core/decide/decide.ts imports src/run/engine/clock.ts: the table of src/core does not name run";
    for (const text of [
      'import { now } from "../../run/engine/clock.js";',
      'import type { Clock } from "../../run/engine/clock.js";',
      'export { now } from "../../run/engine/clock.js";',
      'const clock = import("../../run/engine/clock.js");',
      'type Clock = import("../../run/engine/clock.js").Clock;',
    ]) {
      expect(verdict("src/core/decide/decide.ts", text)).toEqual([reason]);
    }
  });

  it("knows the engine's port to a worker, and neither side the other", () => {
    expect(verdict("src/run/engine/engine.ts", 'import type { Worker } from "../worker.js";')).toEqual([]);
    expect(verdict("src/run/engine/engine.ts", 'import { a } from "../worker/local-worker.js";')).toEqual([
      "src/run/engine/engine.ts imports src/run/worker/local-worker.ts: engine and worker are siblings",
    ]);
  });

  it("reads the table of a README, and refuses one that points upwards", () => {
    const table = parseRoomTable(
      "| may import | core, store |\n| inside, lowest first | a, b < (top) < c |\n",
    );
    expect(table).toEqual({ mayImport: ["core", "store"], inside: [["a", "b"], [""], ["c"]] });
    expect(parseRoomTable("| may import | nothing |\n")).toEqual({ mayImport: [], inside: [] });
    expect(() => parseRoomTable("no table")).toThrow("may import");
    const tables = new Map(
      [["core", []] as const, ["store", ["run"]] as const, ["run", ["store"]] as const].map(
        ([room, mayImport]) => [room, { mayImport, inside: [] }] as const,
      ),
    );
    expect(findUpwardTables(tables)).toEqual([
      "the table of src/store names run, which is not below it",
      "the table of src/run names store, which is not below it",
    ]);
  });

  it("refuses the command line and the entry point as dependencies, and folders without a layer", () => {
    expect(verdict("src/index.ts", 'export { main } from "./cli/main.js";')).toHaveLength(1);
    expect(verdict("src/run/engine/engine.ts", 'import { Daruma } from "../../index.js";')).toHaveLength(1);
    expect(verdict("src/cli/main.ts", 'import { x } from "../extras/x.js";')).toHaveLength(1);
  });

  it("does not bind unit tests", () => {
    expect(
      verdict("src/core/decide/decide.test.ts", 'import { now } from "../../run/engine/clock.js";'),
    ).toEqual([]);
  });
});

describe("the rule of circles", () => {
  const a = file("src/core/a.ts", 'import { b } from "./b.js";');
  const b = (text: string) => file("src/core/b.ts", text);

  it("finds files that import each other, however many lie between", () => {
    expect(findCycles([a, b('export { a } from "./a.js";')])).toEqual([
      "src/core/a.ts, src/core/b.ts import each other",
    ]);
    expect(
      findCycles([a, b('import { c } from "./c.js";'), file("src/core/c.ts", 'import { a } from "./a.js";')]),
    ).toEqual(["src/core/a.ts, src/core/b.ts, src/core/c.ts import each other"]);
  });

  it("names two circles apart", () => {
    const pair = (folder: string) => [
      file(`src/${folder}/x.ts`, 'import { y } from "./y.js";'),
      file(`src/${folder}/y.ts`, 'import { x } from "./x.js";'),
    ];
    expect(findCycles([...pair("core"), ...pair("cli")])).toHaveLength(2);
  });

  it("does not count types, which are gone at run time, nor what is loaded later, nor a way that only leads on", () => {
    expect(findCycles([a, b('export const load = () => import("./a.js");')])).toEqual([]);
    expect(findCycles([a, b('import type { A } from "./a.js";')])).toEqual([]);
    expect(findCycles([a, b('import { c } from "./c.js";'), file("src/core/c.ts", "")])).toEqual([]);
  });

  it("gives a reason for every circle that it lets pass", () => {
    for (const { reason } of KNOWN_CYCLES) expect(reason.length).toBeGreaterThan(20);
  });
});

describe("the rule of rooms", () => {
  const wrong = (path: string, text: string) => findWrongImports([file(path, text)]);

  it("lets a room use the rooms below it and itself", () => {
    expect(wrong("src/core/decide/ladder/goto.ts", 'import { a } from "../goto.js";')).toEqual([]);
    expect(wrong("src/core/decide/goto.ts", 'import { a } from "../model/gate.js";')).toEqual([]);
    expect(wrong("src/file/load.ts", 'import { a } from "./lint/lint.js";')).toEqual([]);
  });

  it("refuses a room above, for types too", () => {
    expect(wrong("src/core/model/gate.ts", 'import type { A } from "../decide/ladder/rung.js";')).toEqual([
      "src/core/model/gate.ts imports src/core/decide/ladder/rung.ts: model is below decide",
    ]);
    expect(wrong("src/tell/lookup/job.ts", 'import { a } from "../explain.js";')).toEqual([
      "src/tell/lookup/job.ts imports src/tell/explain.ts: lookup is below the files at the top",
    ]);
  });

  it("refuses rooms side by side, and a room without a place", () => {
    expect(wrong("src/file/lint/lint.ts", 'import { a } from "../draw/mermaid.js";')).toEqual([
      "src/file/lint/lint.ts imports src/file/draw/mermaid.ts: lint and draw are siblings",
    ]);
    expect(wrong("src/core/decide/goto.ts", 'import { a } from "../attic/old.js";')).toEqual([
      "src/core/decide/goto.ts imports src/core/attic/old.ts: src/core/attic has no place among the rooms",
    ]);
  });
});

describe("the picture of the rooms", () => {
  it("has an arrow for each import between rooms that no longer way implies", () => {
    const drawn = drawRooms([
      file("src/core/text/json.ts", ""),
      file("src/core/model/run.ts", 'import type { Json } from "../text/json.js";'),
      file(
        "src/core/decide/decide.ts",
        'import { a } from "../model/run.js"; import { b } from "../text/json.js";',
      ),
      file("src/run/engine/engine.ts", 'import { decide } from "../../core/decide/decide.js";'),
      file(
        "src/cli/main.ts",
        'import { e } from "../run/engine/engine.js"; import { j } from "../core/text/json.js";',
      ),
    ]);
    const arrows = drawn.split("\n").filter((line) => /^ +\w+ --> \w+$/.test(line));
    expect(arrows.map((line) => line.trim())).toEqual([
      "core_decide --> core_model",
      "core_model --> core_text",
      "cli --> run",
      "run --> core",
    ]);
  });
});

describe("the purity rule", () => {
  const impurities = (text: string, path = "src/core/decide/decide.ts") => findImpurities([file(path, text)]);

  it.each([
    ["a Node module", 'import { readFileSync } from "node:fs";'],
    ["a package", 'import { parse } from "yaml";'],
    ["the clock", "export const at = Date.now();"],
    ["the clock by reference", "export const clock = Date.now;"],
    ["a date of now", "export const at = new Date();"],
    ["a date as text", "export const at = Date();"],
    ["chance", "export const roll = () => Math.random();"],
    ["an async function", "export async function load(): Promise<void> {}"],
    ["an async arrow", "export const load = async () => 1;"],
    ["a timer", "setTimeout(() => 1, 5);"],
    ["the process", "export const home = process.env.HOME;"],
    ["the performance clock", "export const at = performance.now();"],
    ["the process handed on", "export const world = { process };"],
    ["the network", "export const load = { fetch: fetch };"],
    ["random bytes", "export const id = crypto.randomUUID();"],
  ])("refuses %s", (_name, text) => {
    expect(impurities(text)).toHaveLength(1);
  });

  it("lets a given time be written as text", () => {
    expect(impurities("export const iso = (at: number) => new Date(at).toISOString();")).toEqual([]);
  });

  it("refuses waiting", () => {
    expect(impurities("await ready;")).toEqual(["src/core/decide/decide.ts:1 uses await"]);
  });

  it("lets file read YAML and core name things like the clock", () => {
    expect(impurities('import { parse } from "yaml";', "src/file/load.ts")).toEqual([]);
    expect(impurities("export const x = (run: { process: string }) => run.process;")).toEqual([]);
    expect(impurities("export const x = { process: 1 }; export interface Y { fetch(): string }")).toEqual([]);
    expect(
      impurities("// Date.now() is a parameter here\nexport const text = 'async await process.env';"),
    ).toEqual([]);
  });

  it("binds only core and file", () => {
    expect(impurities("export const at = Date.now();", "src/run/engine/clock.ts")).toEqual([]);
  });
});

describe("the rules of form", () => {
  it("find every kind of default export", () => {
    for (const text of [
      "export default 1;",
      "export default function f() {}",
      "const a = 1; export { a as default };",
    ]) {
      expect(findDefaultExports([file("src/a.ts", text)]).length).toBeGreaterThan(0);
    }
    expect(findDefaultExports([file("src/a.ts", "switch (a) { default: b(); }")])).toEqual([]);
  });

  it("find any, and not the word in texts and names", () => {
    expect(findAnyTypes([file("src/a.ts", "export const a = 1 as any;")])).toEqual([
      "src/a.ts:1 uses the type any",
    ]);
    expect(findAnyTypes([file("src/a.ts", "export const any = 'any'; // any")])).toEqual([]);
  });

  it("count lines", () => {
    expect(findLongFiles([file("src/a.ts", "a\n".repeat(400))])).toEqual([]);
    expect(findLongFiles([file("src/a.ts", "a\n".repeat(401))])).toEqual([
      "src/a.ts has 401 lines, over 400",
    ]);
  });

  it("let the named catalogues be longer, each for a reason", () => {
    for (const { path, reason } of CATALOGUES) {
      expect(findLongFiles([file(path, "a\n".repeat(2000))])).toEqual([]);
      expect(tracked).toContain(path);
      expect(reason.length).toBeGreaterThan(20);
    }
  });

  it("find dumps by their name", () => {
    const paths = ["src/core/utils.ts", "src/Types.ts", "test/helpers.test.ts", "src/core/text/json.ts"];
    expect(findDumpFiles(paths)).toEqual(paths.slice(0, 3));
  });
});

describe("the rule of dead files", () => {
  const files = [
    file(
      "src/index.ts",
      'export { a } from "./core/a.js"; new Worker(new URL("./thread.js", import.meta.url));',
    ),
    file("src/core/a.ts", 'import type { B } from "./b.js";'),
    file("src/core/b.ts", ""),
    file("src/core/lost.ts", 'import { a } from "./a.js";'),
    file("src/thread.ts", ""),
    file("src/core/a.test.ts", 'import { lost } from "./lost.js";'),
  ];

  it("finds a file that only a test or nothing leads to", () => {
    expect(findDeadFiles(files, ["src/index.ts"])).toEqual(["src/core/lost.ts"]);
  });

  it("finds all of them where the entry is gone", () => {
    expect(findDeadFiles(files, ["src/cli/main.ts"])).toHaveLength(5);
  });
});

describe("the rules of documents", () => {
  it("compare error codes both ways", () => {
    expect(compareErrorsDocument(["A_B", "C"], "| `A_B` | x | y |\n| `C` | x | y |")).toEqual([]);
    expect(compareErrorsDocument(["A_B"], "| `OLD` | x | y |")).toEqual([
      "A_B has no row in docs/errors.md",
      "OLD of docs/errors.md is not in the catalogue",
    ]);
  });

  it("find registries and local folders", () => {
    const host = ["registry", "npmjs", "org"].join(".");
    const folder = ["", "home", "someone", "project"].join("/");
    expect(findLocalTraces([file("a.md", `from https://${host}/x`)])).toEqual([
      "a.md names a package registry",
    ]);
    expect(findLocalTraces([file("a.md", `see ${folder}`)])).toHaveLength(1);
    expect(findLocalTraces([file("a.md", "POST /runs/1/work/now, ./home/x, /tmp/x")])).toEqual([]);
  });
});
