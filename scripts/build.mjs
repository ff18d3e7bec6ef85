// Builds dist/: the library file by file with its types, the command line as one file with its threads beside it (see
// scripts/bundle.mjs), the page (scripts/build-page.mjs). Does nothing when nothing changed, whatever became of dist/ or of the compiler's memory.
// `--clean` starts from an empty dist/; `--code` leaves out the types, which take most of the time; `--every-machine`
// compiles the launcher for all machines that the package is for, not only for this one.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { compileLaunchers, listLaunchers } from "./compile-launcher.mjs";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const source = join(root, "src");
const native = join(root, "native");
const page = join(root, "web");
const output = join(root, "dist");
const memory = join(root, "node_modules/.cache/daruma");
const compilerMemory = join(memory, "types.build.tsbuildinfo");
const settings = [
  "package.json",
  "package-lock.json",
  "tsconfig.json",
  "tsconfig.build.json",
  "scripts/build.mjs",
  "scripts/build-page.mjs",
  "scripts/bundle.mjs",
  "scripts/bundle-parts.mjs",
  "scripts/compile-launcher.mjs",
  "scripts/licences.mjs",
];

function listFiles(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
}

const isProduct = (file) => file.endsWith(".ts") && !file.endsWith(".test.ts");
const isOfPage = (file) => file.startsWith(join(output, "web/")) || file === join(output, "report.html");
const kindOf = (file) => (isOfPage(file) ? "page" : file.endsWith(".d.ts") ? "types" : "code");
const listOutputs = (kind) => listFiles(output).filter((file) => kindOf(file) === kind);

function stampOf(files) {
  // A compiler that has come or gone changes what can be built.
  const hash = createHash("sha256").update(JSON.stringify(launchers));
  for (const file of [...files].sort()) {
    const content = readFileSync(file);
    hash.update(`${relative(root, file)} ${content.length}\n`).update(content);
  }
  return hash.digest("hex");
}

/** Makes one kind of outputs anew if its inputs have changed, or something of it is missing. */
async function bringUpToDate(kind, stamp, make) {
  const stampFile = join(memory, `build-${kind}.json`);
  const last = existsSync(stampFile) ? JSON.parse(readFileSync(stampFile, "utf8")) : null;
  const missing = last === null || last.outputs.some((file) => !existsSync(join(root, file)));
  if (!missing && last.stamp === stamp) return;
  rmSync(stampFile, { force: true });
  await make(missing);
  mkdirSync(memory, { recursive: true });
  const outputs = listOutputs(kind).map((file) => relative(root, file));
  writeFileSync(stampFile, JSON.stringify({ stamp, outputs }));
}

async function makeCode() {
  const { writeCode } = await import("./bundle.mjs");
  const written = new Set([...(await writeCode(root)), ...compileLaunchers(root, launchers)]);
  for (const file of listOutputs("code")) if (!written.has(file)) rmSync(file);
}

async function makePage() {
  const { writePage } = await import("./build-page.mjs");
  await writePage(root);
}

function makeTypes(isMissing) {
  // The compiler believes its own memory: with outputs gone it would write only what changed since.
  if (isMissing) rmSync(compilerMemory, { force: true });
  const compiler = createRequire(import.meta.url).resolve("typescript/bin/tsc");
  const args = [compiler, "-p", join(root, "tsconfig.build.json"), "--tsBuildInfoFile", compilerMemory];
  const result = spawnSync(process.execPath, args, { cwd: root, stdio: "inherit" });
  if (result.status !== 0) process.exit(result.status ?? 1);
  const sourceOf = (file) => join(source, relative(output, file)).replace(/\.d\.ts$/, ".ts");
  for (const file of listOutputs("types")) if (!existsSync(sourceOf(file))) rmSync(file);
}

const launchers = listLaunchers(process.argv.includes("--every-machine"));
if (process.argv.includes("--clean")) rmSync(output, { recursive: true, force: true });
const common = settings.map((name) => join(root, name)).filter((file) => existsSync(file));
const inputs = [...listFiles(source).filter(isProduct), ...listFiles(native), ...common];
const stamp = stampOf(inputs);
await bringUpToDate("code", stamp, makeCode);
await bringUpToDate("page", stampOf([...listFiles(page), ...common]), makePage);
if (!process.argv.includes("--code")) await bringUpToDate("types", stamp, makeTypes);
