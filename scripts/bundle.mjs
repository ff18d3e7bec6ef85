// Writes the JavaScript of dist/. The library stays one file for each source file. The command line is one file, because
// finding and reading some 450 modules took longer than most of its work; Node loads it as CommonJS, which V8 keeps compiled.
import { createHash } from "node:crypto";
import { chmodSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { build } from "esbuild";

const THREADS = [
  "src/store/sqlite/sqlite-thread.ts",
  "src/sandbox/quickjs-thread.ts",
  "src/operations/workflows/workflow-thread.ts",
];
/** Large, native, or with files of their own beside the code: loaded from node_modules by those who need them. */
const NOT_BUNDLED = [
  "ai",
  "@ai-sdk/*",
  "postgres",
  "@modelcontextprotocol/*",
  "fastify",
  "@fastify/*",
  "@photostructure/sqlite",
  "liquidjs",
  "acorn",
  "quickjs-emscripten-core",
  "@jitl/*",
];
const TARGET = "node20";
/** The same clock as `performance.now`, for which Node loads 7 ms worth of modules. */
const NOW = "()=>{const[s,n]=process.hrtime();return s*1e3+n/1e6}";
const MODULE_URL = 'require("node:url").pathToFileURL(__filename).href';
const BANNER = `"use strict";const __moduleUrl=${MODULE_URL},__now=${NOW};`;

/** @returns the files that were written */
export async function writeCode(root) {
  const [library, commandLine] = [await writeLibrary(root), await writeCommandLine(root)];
  return [...library, ...commandLine];
}

async function writeLibrary(root) {
  const common = { absWorkingDir: root, format: "esm", platform: "node", target: TARGET, metafile: true };
  const entryPoints = ["src/index.ts", ...THREADS];
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
  const common = {
    absWorkingDir: root,
    outdir: folder,
    bundle: true,
    format: "cjs",
    platform: "node",
    target: TARGET,
    // Names are left alone, so that a stack can be read even where nobody asked for source maps.
    minifyWhitespace: true,
    minifySyntax: true,
    charset: "ascii",
    legalComments: "none",
    sourcemap: true,
    sourcesContent: false,
    metafile: true,
    external: NOT_BUNDLED,
    // Every package that is left out can be required; an `import` would start Node's other loader.
    supported: { "dynamic-import": false },
    define: { "import.meta.url": "__moduleUrl", "performance.now": "__now" },
    banner: { js: BANNER },
  };
  const program = await build({ ...common, entryPoints: ["src/cli/command-line.ts"] });
  const code = readFileSync(join(folder, "command-line.js"));
  const id = createHash("sha256").update(code).digest("hex").slice(0, 16);
  const entry = await build({
    ...common,
    entryPoints: ["src/cli/main.ts"],
    define: { ...common.define, DARUMA_BUILD: JSON.stringify(id) },
  });
  const threads = await build({ ...common, entryPoints: THREADS, entryNames: "[name]" });
  chmodSync(join(folder, "main.js"), 0o755);
  const built = [program, entry, threads];
  const [manifest, licences] = [join(folder, "package.json"), join(folder, "THIRD-PARTY-LICENCES.txt")];
  writeFileSync(manifest, '{ "type": "commonjs" }\n');
  writeFileSync(licences, licencesOf(root, built));
  return [...built.flatMap((result) => outputsOf(root, result)), manifest, licences];
}

function outputsOf(root, { metafile }) {
  return Object.keys(metafile.outputs).map((file) => resolve(root, file));
}

/** The licences of the packages whose code is in the bundle. */
function licencesOf(root, built) {
  const folders = new Set();
  for (const { metafile } of built) {
    for (const file of Object.keys(metafile.inputs)) {
      const [folder] = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? [];
      if (folder !== undefined) folders.add(resolve(root, folder));
    }
  }
  return [...folders].sort().map(licenceOf).join("\n");
}

function licenceOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e(\.|$)/i.test(entry));
  if (file === undefined) throw new Error(`${name} has no licence file`);
  return `${name} ${version} (${license})\n\n${readFileSync(join(folder, file), "utf8").trim()}\n`;
}
