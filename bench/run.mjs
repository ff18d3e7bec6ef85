// `npm run bench [-- --quick]`: Daruma beside make, ninja and xargs on this machine, all from one run. Rounds are
// interleaved, so that a busy minute hurts every program alike; each figure is the median. Nothing here is a test.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { measure, median } from "./measure.mjs";
import { benchPostgres } from "./postgres/run.mjs";
import { daruma, make, ninja, PARALLEL, xargs } from "./workloads.mjs";

const quick = process.argv.includes("--quick");
const SIZES = quick
  ? {
      rounds: 3,
      jobs: 200,
      chain: 50,
      noop: 200,
      prompts: 3,
      scale: [100, 1_000, 5_000],
      scaleRounds: 1,
      postgres: { rounds: 1, wide: 200, chain: 50, handOvers: 40 },
    }
  : {
      rounds: 5,
      jobs: 2_000,
      chain: 300,
      noop: 2_000,
      prompts: 10,
      scale: [1_000, 10_000, 100_000],
      scaleRounds: 3,
      postgres: { rounds: 5, wide: 2_000, chain: 300, handOvers: 200 },
    };
const MIB = 1024 * 1024;

const isInstalled = (program) => spawnSync(program, ["--version"], { stdio: "ignore" }).status === 0;

/** Runs every contender once a round, in turn: name -> measurements. A contender that fails is left out, aloud. */
async function race(contenders, rounds) {
  const results = new Map(Object.keys(contenders).map((name) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, run] of Object.entries(contenders)) {
      if (!results.has(name)) continue;
      try {
        results.get(name).push(await inFreshFolder(run));
      } catch (error) {
        console.log(`${name}: left out, ${error.message}`);
        results.delete(name);
      }
    }
  }
  return results;
}

/** Folders are removed only at the end: for some seconds after a deletion ext4 makes new files several times slower. */
const folders = [];
process.once("exit", () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

async function inFreshFolder(run) {
  const folder = mkdtempSync(join(tmpdir(), "daruma-bench-"));
  folders.push(folder);
  return run(folder);
}

function printTable(title, header, rows) {
  console.log(`\n${title}`);
  const cells = [header, ...rows].map((row) => row.map(String));
  const widths = header.map((_, column) => Math.max(...cells.map((row) => row[column].length)));
  cells.forEach((row, index) => {
    const line = row.map((cell, column) =>
      column === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[column]),
    );
    console.log(`  ${line.join("  ")}`.trimEnd());
    if (index === 0) console.log(`  ${widths.map((width) => "-".repeat(width)).join("  ")}`);
  });
}

const round = (value, digits = 0) => value.toFixed(digits);
const medianOf = (results, key) => median(results.map((result) => result[key]));

/** Contenders side by side; `figure` turns a median wall time into what is shown. */
function compare(title, unit, results, figure, digits) {
  const own = results.has("daruma") ? figure(medianOf(results.get("daruma"), "wallMs")) : null;
  const rows = [...results].map(([name, measurements]) => {
    const value = figure(medianOf(measurements, "wallMs"));
    const ratio = own === null ? "" : `${round(own / value, 2)}x`;
    return [name, round(value, digits), ratio];
  });
  printTable(title, ["program", unit, "daruma / it"], rows);
}

async function benchJobs(peers) {
  const { jobs, rounds } = SIZES;
  const contenders = { daruma: daruma(jobs, "wide") };
  const programs = { make, ninja, xargs };
  for (const peer of peers) contenders[peer] = programs[peer](jobs);
  for (const peer of peers) contenders[`${peer}, output to files`] = programs[peer](jobs, { files: true });
  const results = await race(contenders, rounds);
  compare(
    `${jobs} x \`true\`, ${PARALLEL} in parallel (daruma records each attempt durably and keeps its output in files)`,
    "jobs/s",
    results,
    (wallMs) => jobs / (wallMs / 1000),
    0,
  );
  if (results.has("daruma")) {
    const engineMs = medianOf(results.get("daruma"), "engineMs");
    console.log(`  daruma without start-up and loading: ${round(jobs / (engineMs / 1000))} jobs/s`);
  }
}

async function benchChain(peers) {
  const { chain, rounds } = SIZES;
  const contenders = { daruma: daruma(chain, "chain") };
  if (peers.includes("ninja")) contenders.ninja = ninja(chain, { chain: true });
  const results = await race(contenders, rounds);
  compare(`chain of ${chain} x \`true\``, "ms/step", results, (wallMs) => wallMs / chain, 2);
  if (results.has("daruma")) {
    console.log(
      `  daruma without start-up and loading: ${round(medianOf(results.get("daruma"), "engineMs") / chain, 2)} ms/step`,
    );
  }
}

async function benchEngine() {
  const { noop, rounds } = SIZES;
  const results = await race(
    { wide: daruma(noop, "wide", "type: noop"), chain: daruma(noop, "chain", "type: noop") },
    rounds,
  );
  const rows = [...results].map(([shape, measurements]) => {
    const engineMs = medianOf(measurements, "engineMs");
    return [shape, round(noop / (engineMs / 1000)), round(engineMs / noop, 3)];
  });
  printTable(`engine only, ${noop} noop steps`, ["shape", "steps/s", "ms/step"], rows);
}

async function benchScale() {
  const rows = [];
  const [baseline] = (await race({ "one step": daruma(1, "wide", "type: noop") }, 1)).get("one step") ?? [];
  let first = null;
  for (const jobs of SIZES.scale) {
    const name = `${jobs} jobs`;
    const rounds = jobs > 10_000 ? 1 : SIZES.scaleRounds;
    const measurements = (await race({ [name]: daruma(jobs, "wide", "type: noop") }, rounds)).get(name);
    if (measurements === undefined) continue;
    const engineUs = (medianOf(measurements, "engineMs") / jobs) * 1000;
    first ??= engineUs;
    const peaks = measurements.map((result) => result.peakRssBytes).filter((bytes) => bytes !== null);
    const peak = peaks.length > 0 ? median(peaks) : null;
    const above =
      peak === null || !baseline?.peakRssBytes ? null : (peak - baseline.peakRssBytes) / jobs / 1024;
    rows.push([
      jobs,
      round(engineUs, 1),
      `${round(engineUs / first, 2)}x`,
      round((medianOf(measurements, "wallMs") / jobs) * 1000, 1),
      peak === null ? "n/a" : round(peak / MIB),
      above === null ? "n/a" : round(above, 1),
    ]);
  }
  printTable(
    "cost of a job as the run grows (noop, side by side)",
    ["jobs", "engine us/job", "to first", "wall us/job", "peak RSS MiB", "KiB/job over one step"],
    rows,
  );
}

async function benchPrompt() {
  const node = (folder) => measure(process.execPath, ["-e", "0"], { cwd: folder });
  const results = await race(
    { "daruma run, one `true`": daruma(1, "wide"), "bare node": node },
    SIZES.prompts,
  );
  const rows = [...results].map(([name, measurements]) => [name, round(medianOf(measurements, "wallMs"))]);
  printTable(`from prompt to prompt, median of ${SIZES.prompts}`, ["command", "ms"], rows);
}

const peers = ["make", "ninja", "xargs"].filter(isInstalled);
const missing = ["make", "ninja", "xargs"].filter((peer) => !peers.includes(peer));
console.log(
  `node ${process.version}, ${cpus().length} cores, ${SIZES.rounds} interleaved rounds, medians${quick ? ", --quick" : ""}`,
);
if (missing.length > 0) console.log(`not installed, so not compared: ${missing.join(", ")}`);
await benchJobs(peers);
await benchChain(peers);
await benchEngine();
await benchScale();
await benchPrompt();
await benchPostgres(SIZES.postgres, printTable);
