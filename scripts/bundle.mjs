// Writes the JavaScript of dist/. The library stays one file for each source file. The command line is a few files
// (scripts/bundle-parts.mjs), because finding and reading some 450 modules took longer than most of its work; Node loads
// them as CommonJS, which V8 keeps compiled.
import { createHash } from "node:crypto";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { writeParts } from "./bundle-parts.mjs";
import { licencesOf, licenceText } from "./licences.mjs";

const THREADS = [
  "src/store/sqlite/sqlite-thread.ts",
  "src/run/sandbox/quickjs-thread.ts",
  "src/operations/workflows/workflow-thread.ts",
];
/** Optional, native, or with files of their own beside the code: loaded from node_modules by those who need them. */
const NOT_BUNDLED = [
  "ai",
  "@ai-sdk/*",
  "postgres",
  "@photostructure/sqlite",
  "liquidjs",
  "acorn",
  "re2js",
  "quickjs-emscripten-core",
  "@jitl/*",
];
/** What only a server needs, in a file of its own: V8 spends time on all that it kept of a file. */
const SERVER_PACKAGES = [
  "fastify",
  "@fastify/helmet",
  "@fastify/rate-limit",
  "@modelcontextprotocol/sdk/server/index.js",
  "@modelcontextprotocol/sdk/server/stdio.js",
  "@modelcontextprotocol/sdk/server/streamableHttp.js",
  "@modelcontextprotocol/sdk/types.js",
];
const SERVER_FILE = "server-packages";
/** Required when a module that imports them is evaluated; what else is imported of Node, with the file. */
const LOADED_LATER = new RegExp(
  `^(${NOT_BUNDLED.map((name) => name.replace("*", ".+")).join("|")}|node:(http|https|tls|dgram|dns))$`,
);
const TARGET = "node20";
/** The same clock as `performance.now`, for which Node loads 7 ms worth of modules. */
const NOW = "()=>{const[s,n]=process.hrtime();return s*1e3+n/1e6}";
const MODULE_URL = 'require("node:url").pathToFileURL(__filename).href';
const BANNER = `"use strict";const __moduleUrl=${MODULE_URL},__now=${NOW};`;

/** @returns the files that were written */
export async function writeCode(root) {
  const [library, commandLine] = [await writeLibrary(root), await writeCommandLine(root)];
  return [...library, ...commandLine, ...(await writeEmptyDatabase(root))];
}

/** Beside the code that opens databases, in the library and in the thread of the command line. */
async function writeEmptyDatabase(root) {
  const folder = join(root, "dist/store/sqlite/file");
  const load = (file) => import(pathToFileURL(join(folder, file)).href);
  const [{ openDatabase }, { EMPTY_DATABASE }] = [
    await load("open-database.js"),
    await load("new-database.js"),
  ];
  const files = [folder, join(root, "dist/cli")].map((place) => join(place, EMPTY_DATABASE));
  for (const file of files) rmSync(file, { force: true });
  const scratch = mkdtempSync(join(tmpdir(), "daruma-build-"));
  try {
    const made = join(scratch, EMPTY_DATABASE);
    const db = openDatabase(made);
    db.exec("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)");
    for (const file of files) writeFileSync(file, readFileSync(made));
    db.close();
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  return files;
}

/** What a snapshot of a run must have been made with: the rules by which logs are folded. */
function coreId(root) {
  const folder = join(root, "src/core");
  const files = readdirSync(folder, { recursive: true }).filter((file) => /(?<!\.test)\.ts$/.test(file));
  const hash = createHash("sha256");
  for (const file of files.sort()) hash.update(`${file}\n${readFileSync(join(folder, file), "utf8")}\n`);
  return JSON.stringify(hash.digest("hex"));
}

async function writeLibrary(root) {
  const define = { DARUMA_CORE: coreId(root) };
  const common = {
    absWorkingDir: root,
    format: "esm",
    platform: "node",
    target: TARGET,
    metafile: true,
    define,
  };
  const entryPoints = ["src/index.ts", "src/flow/testing/test-flow.ts", ...THREADS];
  const reached = await build({
    ...common,
    entryPoints,
    bundle: true,
    packages: "external",
    write: false,
    outdir: "dist",
  });
  const written = await build({
    ...common,
    entryPoints: Object.keys(reached.metafile.inputs),
    outbase: "src",
    outdir: "dist",
  });
  return outputsOf(root, written);
}

async function writeCommandLine(root) {
  const folder = join(root, "dist/cli");
  const text = {
    target: TARGET,
    // Names are left alone, so that a stack can be read even where nobody asked for source maps.
    minifyWhitespace: true,
    minifySyntax: true,
    charset: "ascii",
    legalComments: "none",
  };
  const define = { "import.meta.url": "__moduleUrl", "performance.now": "__now", DARUMA_CORE: coreId(root) };
  const common = {
    ...text,
    absWorkingDir: root,
    outdir: folder,
    bundle: true,
    format: "cjs",
    platform: "node",
    sourcemap: true,
    sourcesContent: false,
    metafile: true,
    external: NOT_BUNDLED,
    // Every package that is left out can be required; an `import` would start Node's other loader.
    supported: { "dynamic-import": false },
    define,
    banner: { js: BANNER },
  };
  mkdirSync(folder, { recursive: true });
  const program = await writeParts(root, folder, {
    ...{ common: text, define, banner: BANNER },
    required: (name) => {
      if (SERVER_PACKAGES.includes(name)) return `require("./${SERVER_FILE}.js")[${JSON.stringify(name)}]()`;
      return LOADED_LATER.test(name) ? `require(${JSON.stringify(name)})` : null;
    },
  });
  const server = await build({
    ...common,
    stdin: { contents: serverFile(), resolveDir: root },
    outdir: undefined,
    outfile: join(folder, `${SERVER_FILE}.js`),
    define: {},
    banner: {},
    sourcemap: false,
  });
  const hash = createHash("sha256");
  for (const [name, code] of program.texts) if (name.endsWith(".js")) hash.update(`${name}\n${code}\n`);
  const id = hash.digest("hex").slice(0, 16);
  const entry = await build({
    ...common,
    entryPoints: ["src/cli/main.ts"],
    define: { ...common.define, DARUMA_BUILD: JSON.stringify(id) },
  });
  const threads = await build({ ...common, entryPoints: THREADS, entryNames: "[name]" });
  chmodSync(join(folder, "main.js"), 0o755);
  const built = [server, entry, threads];
  const sqlite = await writeSqlite(folder, common);
  built.push(sqlite.built);
  const importer = join(folder, "import-module.js");
  writeFileSync(importer, "module.exports = (url) => import(url);\n");
  const [manifest, licences] = [join(folder, "package.json"), join(folder, "THIRD-PARTY-LICENCES.txt")];
  const scope = { type: "commonjs", imports: { "#sqlite": "./sqlite/driver/index.js" } };
  writeFileSync(manifest, `${JSON.stringify(scope, null, 2)}\n`);
  const modules = [...program.modules, ...built.flatMap(({ metafile }) => Object.keys(metafile.inputs))];
  writeFileSync(licences, licenceText(licencesOf(root, modules)));
  const parts = [...program.texts.keys()].map((name) => join(folder, name));
  const others = built.flatMap((result) => outputsOf(root, result));
  return [...parts, ...others, importer, manifest, licences, ...sqlite.copied];
}

/** A copy of the driver for Node 20 with its compiled code, so that installing Daruma compiles nothing and runs no scripts. */
async function writeSqlite(folder, common) {
  const built = await build({
    ...common,
    entryPoints: { index: "@photostructure/sqlite" },
    external: [],
    outdir: join(folder, "sqlite/driver"),
    sourcemap: false,
  });
  const main = createRequire(import.meta.url).resolve("@photostructure/sqlite");
  const prebuilds = join(dirname(main), "../prebuilds");
  const machines = readdirSync(prebuilds).filter((name) => /^(linux|darwin)-/.test(name));
  const copied = machines.flatMap((machine) =>
    readdirSync(join(prebuilds, machine)).map((name) => {
      const target = join(folder, "sqlite/prebuilds", machine, name);
      mkdirSync(dirname(target), { recursive: true });
      copyFileSync(join(prebuilds, machine, name), target);
      return target;
    }),
  );
  return { built, copied };
}

/** Each package is evaluated when it is asked for. */
function serverFile() {
  return SERVER_PACKAGES.map(
    (name) => `exports[${JSON.stringify(name)}] = () => require(${JSON.stringify(name)});`,
  ).join("\n");
}

function outputsOf(root, { metafile }) {
  return Object.keys(metafile.outputs).map((file) => resolve(root, file));
}
