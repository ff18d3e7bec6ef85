// npm run mutate [-- WORD...]: break src/core on purpose, one line at a time, and see the test that claims to guard
// that line fail. The mutants are named in test/mutation/mutants.yaml; WORDs choose those whose text holds them all.
//
// npm run mutate -- --generate PATH... [--suites GLOB...]: mutants made by rule for every condition and number of the
// files below PATH, each against all the suites, to find lines that no test guards.
//
// The files on disk are never changed: the mutated text is what the test runner reads.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { createVitest } from "vitest/node";
import { parse } from "yaml";
import { generateMutants } from "./generate-mutants.mjs";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const LIST = join(root, "test/mutation/mutants.yaml");
const GENERAL_SUITES = ["test/conformance/", "test/core/", "src/core/"];

const args = process.argv.slice(2);
const generated = args[0] === "--generate";
const mutants = generated ? generate(args.slice(1)) : choose(parse(readFileSync(LIST, "utf8")), args);
if (mutants.length === 0) fail("no mutant matches");

/** Each lane tries one mutant at a time, with a runner of its own that reads the mutated text. */
const LANES = Math.min(2, mutants.length);
const lanes = [];
for (let at = 0; at < LANES; at += 1) lanes.push(await openLane());

await expectGreen(lanes[0], mutants);
const survivors = [];
const queue = [...mutants];
let tried = 0;
await Promise.all(
  lanes.map(async (lane) => {
    for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
      const outcome = await tryOne(lane, mutant);
      if (!outcome.startsWith("killed")) survivors.push(mutant);
      tried += 1;
      console.log(`${tried}/${mutants.length} ${outcome}: ${describe(mutant)}`);
    }
  }),
);
for (const { vitest } of lanes) await vitest.close();

const killed = mutants.length - survivors.length;
console.log(
  `\n${killed} of ${mutants.length} mutants killed, mutation score ${((100 * killed) / mutants.length).toFixed(1)} %`,
);
for (const mutant of survivors) console.log(`  not killed: ${describe(mutant)}`);
process.exit(survivors.length === 0 || generated ? 0 : 1);

async function openLane() {
  const current = { mutant: null, applied: false };
  const transform = (code, id) => mutate(current, code, id);
  const vitest = await createVitest(
    "test",
    {
      root,
      // The projects of the configuration would have servers of their own, without the plugin.
      config: false,
      include: ["src/**/*.test.ts", "test/**/*.test.ts"],
      tags: listTags(),
      testTimeout: 60_000,
      pool: "threads",
      maxWorkers: 1,
      watch: false,
      bail: 1,
      reporters: [{}],
      // Only suites that run from source can see a mutant; what they start from dist is not changed by it.
      globalSetup: ["test/support/build-once.ts"],
    },
    { plugins: [{ name: "mutate", enforce: "pre", transform }], logLevel: "silent" },
  );
  return { vitest, current };
}

/** A test that fails anyway would kill every mutant. */
async function expectGreen({ vitest }, list) {
  const suites = [...new Set(list.flatMap(({ suite }) => suite))];
  const { failed, passed, broken } = await run(vitest, await vitest.globTestSpecifications(suites));
  if (broken !== undefined)
    fail(`${relative(root, broken.moduleId)} does not load: ${broken.errors()[0].message}`);
  if (failed.length > 0) fail(`"${failed[0].fullName}" fails without any mutant`);
  console.log(`${passed.length} tests of ${suites.length} suites pass without a mutant`);
}

async function run(vitest, specifications) {
  // What an earlier run has left would count as an outcome of this one.
  vitest.state.filesMap.clear();
  await vitest.runTestSpecifications(specifications, false);
  const testModules = specifications.flatMap(({ testModule }) => testModule ?? []);
  const tests = testModules.flatMap((testModule) => [...testModule.children.allTests()]);
  const withState = (state) => tests.filter((test) => test.result().state === state);
  const broken = testModules.find((testModule) => testModule.errors().length > 0);
  return { failed: withState("failed"), passed: withState("passed"), broken };
}

/** Runs the suites of a mutant. A suite that no longer loads proves nothing, so that is no kill. */
async function tryOne({ vitest, current }, mutant) {
  const path = join(root, mutant.file);
  current.mutant = { ...mutant, path };
  current.applied = false;
  vitest.invalidateFile(path);
  if (mutant.tests === undefined) vitest.resetGlobalTestNamePattern();
  else vitest.setGlobalTestNamePattern(new RegExp(mutant.tests));
  const specifications = await vitest.globTestSpecifications([mutant.suite].flat());
  for (const specification of specifications) specification.testTagsFilter = tagsOf(mutant);
  if (specifications.length === 0) return `SUITE MISSING (${mutant.suite})`;
  const { failed, passed, broken } = await run(vitest, specifications);
  current.mutant = null;
  vitest.invalidateFile(path);
  if (!current.applied) return "NOT APPLIED (no suite reads the file)";
  if (failed.length > 0) return `killed by "${failed[0].fullName}"`;
  if (broken !== undefined)
    return `SUITE BROKEN (${relative(root, broken.moduleId)}: ${broken.errors()[0].message})`;
  return passed.length === 0 ? "NO TEST RAN" : `SURVIVED ${passed.length} tests`;
}

/** The tests with one of the mutant's rows as a tag; without: every test of the suite. */
function tagsOf({ rows, tests }) {
  return rows === undefined || tests !== undefined ? undefined : [rows.split(" ").join(" || ")];
}

/** The ids of the rows of docs/coverage.md. */
function listTags() {
  const document = readFileSync(join(root, "docs/coverage.md"), "utf8");
  return [...document.matchAll(/^\| ([A-Z]\d+) \|/gm)].map(([, name]) => ({ name }));
}

function mutate(current, code, id) {
  const { mutant } = current;
  if (mutant === null || id.split("?")[0] !== mutant.path) return null;
  current.applied = true;
  return { code: applyTo(code, mutant), map: null };
}

function applyTo(code, mutant) {
  if (mutant.start !== undefined) return code.slice(0, mutant.start) + mutant.put + code.slice(mutant.end);
  if (code.split(mutant.find).length !== 2)
    fail(
      `${mutant.file} holds "${mutant.find}" ${code.split(mutant.find).length - 1} times; it must be once`,
    );
  return code.replace(mutant.find, () => mutant.put);
}

function choose(all, words) {
  return all.filter((mutant) => words.every((word) => JSON.stringify(mutant).includes(word)));
}

function generate(rest) {
  const at = rest.indexOf("--suites");
  const paths = at < 0 ? rest : rest.slice(0, at);
  const suites = at < 0 ? GENERAL_SUITES : rest.slice(at + 1);
  if (paths.length === 0) fail("--generate needs a file or folder, for example src/core/decide/ladder");
  return paths.flatMap(filesBelow).flatMap((file) =>
    generateMutants(readFileSync(join(root, file), "utf8")).map((mutant) => ({
      ...mutant,
      file,
      suite: suites,
    })),
  );
}

function filesBelow(path) {
  if (statSync(join(root, path)).isFile()) return [path];
  return readdirSync(join(root, path), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
    .sort()
    .map((name) => join(path, name));
}

function describe({ what, file, line }) {
  return line === undefined ? `${what} (${file})` : `${file}:${line} ${what}`;
}

function fail(message) {
  console.error(`mutate: ${message}`);
  process.exit(2);
}
