// What a job costs as its run grows: time and memory of the run, then of each command that reads it.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { growLoads } from "./load.mjs";
import { measure } from "./measure.mjs";
import { figureOf, race } from "./race.mjs";
import { runOnServer, withServers } from "./servers.mjs";
import { commandLine, daruma, darumaWith, PARALLEL, workflowText } from "./workloads.mjs";

const MIB = 1024 * 1024;
const SERVER_POLL_MS = 5;
/** `STEP` and `JOB` stand for a step that printed a line. */
const READS = [
  ["logs", "last", "STEP"],
  ["job", "show", "JOB"],
  ["job", "show", "last", "STEP"],
  ["explain", "last", "STEP"],
  ["explain", "last"],
  ["show", "last"],
  ["show", "last", "--json"],
  ["events", "last"],
  ["events", "last", "--json"],
  ["stats", "last"],
  ["graph", "last"],
  ["list"],
];
/** Of a run in which all but one step are over: to load it, run that step, and end. */
const RESUME = "resume last";

const peakMib = ({ peakRssBytes }) => (peakRssBytes === null ? null : peakRssBytes / MIB);
const jobsOf = (count) => `${count.toLocaleString("en")} jobs`;

export async function benchGrowth({ rounds, jobs, serverRuns }, skipped) {
  return [
    await growRuns(rounds, jobs, skipped),
    await growReads(rounds, jobs, skipped),
    await growServer(serverRuns, skipped),
    await growLoads(rounds, jobs, skipped),
  ];
}

/** `s0` gives a list of `count` items; its one dependent runs for each of them. */
const fanOut = (count) =>
  darumaWith(`name: bench
steps:
  s0: { type: script, content: "return Array.from({ length: ${count} }, (_, n) => n)", forEach: true }
  s1: { type: noop, depends_on: [s0] }
`);

async function growRuns(rounds, sizes, skipped) {
  const shapes = sizes.flatMap((count) => [
    { name: jobsOf(count), count, run: daruma(count, "wide", "type: noop") },
    { name: `forEach of ${count.toLocaleString("en")} items`, count, run: fanOut(count) },
  ]);
  const contenders = Object.fromEntries(shapes.map(({ name, run }) => [name, run]));
  const results = await race(contenders, rounds, skipped);
  const rows = shapes
    .filter(({ name }) => results.has(name))
    .map(({ name, count }) => {
      const measurements = results.get(name);
      return {
        name,
        cells: {
          wall: figureOf(measurements.map(({ wallMs }) => wallMs / 1000)),
          engine: figureOf(measurements.map(({ engineMs }) => (engineMs * 1000) / count)),
          peak: figureOf(measurements.map(peakMib)),
        },
      };
    });
  return {
    id: "growth-run",
    title: "a run that grows, noop steps side by side",
    rounds,
    columns: [
      { key: "wall", title: "whole run, s", digits: 2 },
      { key: "engine", title: "engine, us/job", digits: 0 },
      { key: "peak", title: "peak memory, MiB", digits: 0 },
    ],
    rows,
  };
}

async function growReads(rounds, sizes, skipped) {
  const figures = new Map([...READS.map((words) => words.join(" ")), RESUME].map((name) => [name, {}]));
  for (const count of sizes) {
    const prepared = await race(
      { [`a run of ${jobsOf(count)}`]: (folder) => makeRun(folder, count) },
      1,
      skipped,
    );
    const [run] = [...prepared.values()].flat();
    if (run === undefined) continue;
    for (const [name, measurements] of await race(readersOf(run), rounds, skipped)) {
      figures.get(name)[`ms${count}`] = figureOf(measurements.map(({ wallMs }) => wallMs));
      figures.get(name)[`mib${count}`] = figureOf(measurements.map(peakMib));
    }
    const resumed = await race({ [RESUME]: (folder) => resumeRun(folder, count) }, 1, skipped);
    for (const measurements of resumed.values()) {
      figures.get(RESUME)[`ms${count}`] = figureOf(measurements.map(({ wallMs }) => wallMs));
      figures.get(RESUME)[`mib${count}`] = figureOf(measurements.map(peakMib));
    }
  }
  return {
    id: "growth-read",
    title: "reading a run that has grown",
    note: "STEP and JOB are one step that printed a line; the others are noop",
    rounds,
    columns: sizes.flatMap((count) => [
      { key: `ms${count}`, title: `${jobsOf(count)}, ms`, digits: 0 },
      { key: `mib${count}`, title: "MiB", digits: 0 },
    ]),
    rows: [...figures].map(([name, cells]) => ({ name, cells })),
  };
}

/** One server, which finishes one small run after the other: what it keeps of them shows as growth. */
async function growServer(counts, skipped) {
  const finished = (count) => `${count.toLocaleString("en")} finished runs`;
  const peaks = {};
  await race(
    {
      "a server": (folder) =>
        withServers({ folder, store: join(folder, "runs.db"), workers: {} }, async ({ url, peakRss }) => {
          for (let runs = 1; runs <= Math.max(...counts); runs += 1) {
            await runOnServer(url, { name: "small", steps: { a: { type: "noop" } } }, SERVER_POLL_MS);
            if (counts.includes(runs)) peaks[runs] = peakRss("server") / MIB;
          }
          return {};
        }),
    },
    1,
    skipped,
  );
  return {
    id: "growth-server",
    title: "a server that finishes small runs, one after the other",
    rounds: 1,
    columns: [{ key: "peak", title: "peak memory, MiB", digits: 0 }],
    rows: counts
      .filter((count) => peaks[count] !== undefined)
      .map((count) => ({ name: finished(count), cells: { peak: figureOf([peaks[count]]) } })),
  };
}

async function makeRun(folder, count) {
  const file = join(folder, "bench.yaml");
  writeFileSync(file, `${workflowText(count - 1, "wide", "type: noop")}  talker: { exec: echo hello }\n`);
  const { stdout } = await callDaruma(folder, ["run", file, "--json", "--max-parallel", String(PARALLEL)]);
  const job = JSON.parse(stdout).jobs.find(({ step }) => step === "talker");
  return { folder, job: String(job.id) };
}

/** The step that fails is held, so that the run rests with all else done. */
async function resumeRun(folder, count) {
  const file = join(folder, "held.yaml");
  const steps = workflowText(count - 1, "wide", "type: noop");
  writeFileSync(file, `unhandled: hold\n${steps}  gate: { exec: test -e open }\n`);
  const run = [commandLine, "run", file, "--quiet", "--max-parallel", String(PARALLEL)];
  const words = [process.execPath, ...run, "--output-dir", join(folder, "state")];
  // A held run ends with an exit code of its own.
  await measure("sh", ["-c", '"$@" || true', "sh", ...words], { cwd: folder });
  await callDaruma(folder, ["job", "set", "last", "gate", "ready"]);
  writeFileSync(join(folder, "open"), "");
  return callDaruma(folder, ["resume", "last"]);
}

function readersOf({ folder, job }) {
  const reader = (words) => async () => {
    const spoken = words.map((word) => (word === "STEP" ? "talker" : word === "JOB" ? job : word));
    const result = await callDaruma(folder, spoken);
    if (words[0] === "logs" && result.stdout !== "hello\n") throw new Error("logs printed something else");
    return { ...result, stdout: "" };
  };
  return Object.fromEntries(READS.map((words) => [words.join(" "), reader(words)]));
}

function callDaruma(folder, words) {
  return measure(process.execPath, [commandLine, ...words, "--output-dir", join(folder, "state")], {
    cwd: folder,
    capture: true,
    memory: true,
  });
}
