// npm run sim: the tests of test/sim, with few seeds each.
//
// npm run sim -- --seeds N [--from M] [--cores K] [--stores]: N stories, from seed M on, on all cores or K of them. Each is
// checked as test/sim/simulation.test.ts does; with --stores, memory, SQLite and PostgreSQL are compared, as
// test/sim/stores.test.ts does. It says how far it is, how to replay each seed that fails, and how many seeds an hour it
// tells. The test runner gives a file one process, however many seeds it has.
import { fork, spawnSync } from "node:child_process";
import { availableParallelism } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { build, stop } from "esbuild";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
/** As deep below the root as the sources of tests, which find it from where they are. */
const FOLDER = join(root, "node_modules/.cache");
/** A story leaves much behind that is young when it ends. */
const EXEC_ARGV = ["--enable-source-maps", "--max-semi-space-size=64"];
const TOLD_EVERY_MS = 10_000;
const MS_PER_HOUR = 3_600_000;

if (process.argv.length === 2) {
  const tests = [join(root, "node_modules/vitest/vitest.mjs"), "run", "test/sim"];
  process.exit(spawnSync(process.execPath, tests, { cwd: root, stdio: "inherit" }).status ?? 1);
}
const values = readOptions();
const count = numberOf("seeds");
const first = numberOf("from");
const cores = Math.min(numberOf("cores"), count);
const TEST = values.stores ? "test/sim/stores.test.ts" : "test/sim/simulation.test.ts";

const program = await bundle();
const begun = performance.now();
let [next, done] = [first, 0];
const failed = [];
const progress = setInterval(() => console.log(standing()), TOLD_EVERY_MS);
await Promise.all(Array.from({ length: cores }, work));
clearInterval(progress);
console.log(standing());
if (failed.length > 0) console.log(`failed: ${failed.sort((one, other) => one - other).join(" ")}`);
process.exit(failed.length === 0 ? 0 : 1);

/** A process that takes seeds until there are none. One that ends by itself has failed its seed, and another goes on. */
async function work() {
  while (next < first + count) {
    const child = fork(program, values.stores ? ["stores"] : [], { cwd: root, execArgv: EXEC_ARGV });
    let seed = null;
    const take = () => {
      seed = next < first + count ? next++ : null;
      if (seed === null) child.disconnect();
      else child.send(seed);
    };
    child.on("message", (answer) => {
      if (answer !== "ready") note(seed, answer.faults);
      take();
    });
    const status = await new Promise((end) => child.once("exit", (code, signal) => end(signal ?? code)));
    if (seed !== null) note(seed, [`the process ended with ${status}`]);
    else if (status !== 0) throw new Error(`a process ended with ${status} and no seed`);
  }
}

function note(seed, faults) {
  done += 1;
  if (faults.length === 0) return;
  failed.push(seed);
  console.log(`seed ${seed} failed; again: SEED=${seed} npx vitest run ${TEST}`);
  for (const fault of faults) console.log(`  ${fault.replaceAll("\n", "\n  ")}`);
}

function standing() {
  const perHour = Math.round((done * MS_PER_HOUR) / (performance.now() - begun));
  return `${done} of ${count} seeds from ${first}, ${failed.length} failed, ${perHour} seeds an hour on ${cores} ${cores === 1 ? "core" : "cores"}`;
}

async function bundle() {
  const [name, thread] = ["daruma-seeds", "sqlite-thread"];
  await build({
    absWorkingDir: root,
    entryPoints: { [name]: "test/sim/seeds-process.ts", [thread]: "src/store/sqlite/sqlite-thread.ts" },
    outdir: FOLDER,
    bundle: true,
    ...{ format: "esm", platform: "node", target: "node20", packages: "external", sourcemap: true },
    logLevel: "warning",
  });
  await stop();
  return join(FOLDER, `${name}.js`);
}

function readOptions() {
  const options = {
    seeds: { type: "string" },
    from: { type: "string", default: "1" },
    cores: { type: "string", default: String(availableParallelism()) },
    stores: { type: "boolean", default: false },
  };
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    console.error(error.message);
    process.exit(2);
  }
}

function numberOf(name) {
  const number = Number(values[name]);
  if (Number.isInteger(number) && number > 0) return number;
  console.error(`give a number from 1: --${name} N`);
  process.exit(2);
}
