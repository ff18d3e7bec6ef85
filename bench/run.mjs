// `npm run bench -- --help` says what this does.
import { readFileSync, writeFileSync } from "node:fs";
import { benchChain, benchNoop, benchStart, benchWide } from "./commands.mjs";
import { benchGrowth } from "./growth.mjs";
import { describeMachine, describeVersions, loadPerCore } from "./machine.mjs";
import { HELP, readOptions } from "./options.mjs";
import { benchHandOver, benchPostgres } from "./postgres/run.mjs";
import { SIZES } from "./sizes.mjs";
import { partAsText } from "./tables.mjs";
import { benchWorkers } from "./workers.mjs";

const RECORDED = new URL("recorded.json", import.meta.url);
/** Other programs that want more of each core than this make the figures of little use. */
const BUSY_LOAD_PER_CORE = 0.5;
const BENCHES = {
  start: benchStart,
  wide: benchWide,
  chain: benchChain,
  noop: benchNoop,
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
} else process.exitCode = await bench(options);

async function bench({ mode, parts, json, record }) {
  const recorded = JSON.parse(readFileSync(RECORDED, "utf8"));
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
    for (const part of await BENCHES[name](SIZES[mode][name], skipped)) {
      results.parts.push(part);
      console.log(
        partAsText(
          part,
          recorded[mode]?.parts.find(({ id }) => id === part.id),
        ),
      );
    }
  }
  results.load_per_core.after = loadPerCore();
  if (skipped.length > 0) console.log("\nleft out:");
  for (const { name, reason } of skipped) console.log(`  ${name}: ${reason}`);
  const before = recorded[mode];
  if (before !== undefined)
    console.log(
      `\nrecorded on ${before.measured_at.slice(0, 10)}, load ${before.load_per_core.before} a core`,
    );
  if (json !== undefined) writeFileSync(json, asJson(results));
  if (record) writeFileSync(RECORDED, asJson({ ...recorded, [mode]: results }));
  return skipped.some(({ is_own }) => is_own) ? 1 : 0;
}

function asJson(value) {
  // Six digits are more than any clock here can tell.
  const rounded = (_, item) => (typeof item === "number" ? Number(item.toPrecision(6)) : item);
  return `${JSON.stringify(value, rounded, 2)}\n`;
}
