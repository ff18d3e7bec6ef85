// Compiles src/ to dist/. Does nothing when nothing changed, whatever became of dist/ or of the compiler's memory.
// `--clean` starts from an empty dist/.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const source = join(root, "src");
const output = join(root, "dist");
const memory = join(root, "node_modules/.cache/daruma");
const buildInfo = join(memory, "build.tsbuildinfo");
const stampFile = join(memory, "build.stamp");
const commandLine = join(output, "cli/main.js");
const settings = ["package.json", "tsconfig.json", "tsconfig.build.json", "scripts/build.mjs"];

function listFiles(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
}

const isTest = (file) => file.endsWith(".test.ts");
const isCompiled = (file) => file.endsWith(".ts");
// Plain JavaScript in src/ serves the tests (they run from source); other files, such as SQL, are copied.
const isProduct = (file) => !isTest(file) && !/\.m?js$/.test(file);

/** Every file that dist/ should hold, with the one it is made from. */
function expectedOutputs(sources) {
  const expected = new Map();
  for (const file of sources) {
    const target = join(output, relative(source, file));
    if (isCompiled(file)) {
      expected.set(target.replace(/\.ts$/, ".js"), file);
      expected.set(target.replace(/\.ts$/, ".d.ts"), file);
    } else {
      expected.set(target, file);
    }
  }
  return expected;
}

function stampOf(files) {
  const hash = createHash("sha256");
  for (const file of [...files].sort()) {
    const { size, mtimeMs } = statSync(file);
    hash.update(`${relative(root, file)} ${size} ${mtimeMs}\n`);
  }
  return hash.digest("hex");
}

function compile() {
  mkdirSync(memory, { recursive: true });
  const compiler = createRequire(import.meta.url).resolve("typescript/bin/tsc");
  const result = spawnSync(process.execPath, [compiler, "-p", join(root, "tsconfig.build.json")], {
    cwd: root,
    stdio: "inherit",
  });
  if (result.status !== 0) process.exit(result.status ?? 1);
}

const clean = process.argv.includes("--clean");
if (clean) rmSync(output, { recursive: true, force: true });

const sources = listFiles(source).filter(isProduct);
const expected = expectedOutputs(sources);
const missing = [...expected.keys()].filter((file) => !existsSync(file));
const inputs = [...sources, ...settings.map((name) => join(root, name))];
const stamp = stampOf(inputs);
const lastStamp = existsSync(stampFile) ? readFileSync(stampFile, "utf8") : "";

if (missing.length > 0 || stamp !== lastStamp) {
  rmSync(stampFile, { force: true });
  // The compiler believes its own memory: with outputs gone it would write only what changed since.
  if (missing.length > 0) rmSync(buildInfo, { force: true });
  compile();
  for (const [target, file] of expected) {
    if (isCompiled(file)) continue;
    mkdirSync(dirname(target), { recursive: true });
    copyFileSync(file, target);
  }
  for (const file of listFiles(output)) if (!expected.has(file)) rmSync(file);
  if (existsSync(commandLine)) chmodSync(commandLine, 0o755);
  mkdirSync(memory, { recursive: true });
  writeFileSync(stampFile, stamp);
}
