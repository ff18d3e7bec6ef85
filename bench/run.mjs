// `npm run bench -- --help` says what this does.
import { readFileSync, writeFileSync } from "node:fs";
import { benchBook } from "./book.mjs";
import { benchChain, benchNoop, benchStart, benchWide } from "./commands.mjs";
import { benchGrowth } from "./growth.mjs";
import { describeMachine, describeVersions, loadPerCore } from "./machine.mjs";
import { HELP, readOptions } from "./options.mjs";
import { benchHandOver, benchPostgres } from "./postgres/run.mjs";
import { asJson, partOf, readRecorded, tablesOf, withSitting, writeRecorded } from "./recorded.mjs";
import { SIZES } from "./sizes.mjs";
import { partAsText } from "./tables.mjs";
import { benchWorkers } from "./workers.mjs";

/** Other programs that want more of each core than this make the figures of little use. */
const BUSY_LOAD_PER_CORE = 0.5;
const BENCHES = {
  start: benchStart,
  wide: benchWide,
  chain: benchChain,
  noop: benchNoop,
  book: benchBook,
  growth: benchGrowth,
  postgres: benchPostgres,
  handOver: benchHandOver,
  workers: benchWorkers,
};

const options = readOptions(process.argv.slice(2));
if (options.help) process.stdout.write(HELP);
else if (options.problem) {
  process.stderr.write(`${options.problem}\n\n${HELP}`);
  process.exitCode = 2;
} else if (options.merge) process.exitCode = merge(options.merge);
else process.exitCode = await bench(options);

async function bench({ mode, parts, json, record }) {
  const recorded = tablesOf(readRecorded()[mode] ?? []);
  const skipped = [];
  const results = {
    mode,
    measured_at: new Date().toISOString(),
    machine: describeMachine(),
    load_per_core: { before: loadPerCore(), after: null },
    versions: describeVersions(),
    skipped,
    parts: [],
  };
  const { cores, cpu } = results.machine;
  console.log(`--${mode} on ${cores} cores of ${cpu}, load ${results.load_per_core.before} a core`);
  if (results.load_per_core.before > BUSY_LOAD_PER_CORE)
    console.log("this machine is busy: expect a wide spread, and trust the ratios more than the times");
  for (const name of parts) {
    const measured_at = new Date().toISOString();
    const before = loadPerCore();
    const tables = await BENCHES[name](SIZES[mode][name], skipped);
    const load_per_core = { before, after: loadPerCore() };
    for (const table of tables) {
      results.parts.push({ ...table, measured_at, load_per_core });
      console.log(
        partAsText(
          table,
          recorded.find(({ id }) => id === table.id),
        ),
      );
    }
  }
  results.load_per_core.after = loadPerCore();
  if (skipped.length > 0) console.log("\nleft out:");
  for (const { name, reason } of skipped) console.log(`  ${name}: ${reason}`);
  sayWhenRecorded(recorded, parts);
  if (json !== undefined) writeFileSync(json, asJson(results));
  if (record) writeRecorded(withSitting(readRecorded(), results));
  return skipped.some(({ is_own }) => is_own) ? 1 : 0;
}

/** Parts that were recorded together share a line. */
function sayWhenRecorded(recorded, parts) {
  const lines = new Map();
  for (const { id, measured_at, load_per_core } of recorded) {
    const when = `recorded on ${measured_at.slice(0, 10)}, load ${load_per_core.before} a core`;
    if (parts.includes(partOf(id))) lines.set(when, (lines.get(when) ?? new Set()).add(partOf(id)));
  }
  if (lines.size > 0) console.log();
  for (const [when, names] of lines) console.log(`${when}: ${[...names].join(", ")}`);
}

function merge(files) {
  try {
    writeRecorded(files.map(readSitting).reduce(withSitting, readRecorded()));
    return 0;
  } catch (error) {
    process.stderr.write(`${error.message}\n`);
    return 2;
  }
}

function readSitting(file) {
  const sitting = JSON.parse(readFileSync(file, "utf8"));
  if (SIZES[sitting.mode] === undefined || sitting.mode === "tiny")
    throw new Error(`${file} has no results of --all or --quick`);
  return sitting;
}
