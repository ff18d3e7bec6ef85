// What it costs to load a file of the batch form with very many jobs, each with two files, as it grows.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { measure } from "./measure.mjs";
import { figureOf, race } from "./race.mjs";
import { commandLine } from "./workloads.mjs";

const MIB = 1024 * 1024;
const CHAIN = 100;

/** In chains of a hundred: a job needs a file of its own and the one that the job before it makes. */
function writtenOut(count) {
  const files = [];
  const jobs = [];
  for (let n = 1; n <= count; n += 1) {
    files.push(
      `  - { name: in_${n}, path: data/in-${n}.txt }`,
      `  - { name: out_${n}, path: data/out-${n}.txt }`,
    );
    const before = n % CHAIN === 1 ? "" : `, out_${n - 1}`;
    jobs.push(
      `  - { name: work_${n}, command: ./work.sh ${n}, input_files: [in_${n}${before}], output_files: [out_${n}] }`,
    );
  }
  return `name: bench\nfiles:\n${files.join("\n")}\njobs:\n${jobs.join("\n")}\n`;
}

function byParameters(count) {
  const numbers = `parameters: { n: "1:${count}" }`;
  return `name: bench
files:
  - { name: "in_{n}", path: "data/in-{n}.txt", ${numbers} }
  - { name: "out_{n}", path: "data/out-{n}.txt", ${numbers} }
jobs:
  - { name: "work_{n}", command: "./work.sh {n}", input_files: ["in_{n}"], output_files: ["out_{n}"], ${numbers} }
`;
}

const loading = (text) => (folder) => {
  const file = join(folder, "bench.yaml");
  writeFileSync(file, text);
  return measure(process.execPath, [commandLine, "validate", file, "--quiet"], { cwd: folder, memory: true });
};

export async function growLoads(rounds, sizes, skipped) {
  const shapes = sizes.flatMap((count) => {
    const name = `${count.toLocaleString("en")} jobs, ${(2 * count).toLocaleString("en")} files`;
    return [
      { name: `${name}, written out`, count, run: loading(writtenOut(count)) },
      { name: `${name}, by parameters`, count, run: loading(byParameters(count)) },
    ];
  });
  const results = await race(Object.fromEntries(shapes.map(({ name, run }) => [name, run])), rounds, skipped);
  return {
    id: "growth-load",
    title: "loading a batch file that grows",
    rounds,
    columns: [
      { key: "wall", title: "s", digits: 2 },
      { key: "each", title: "us/job", digits: 0 },
      { key: "peak", title: "peak memory, MiB", digits: 0 },
    ],
    rows: shapes
      .filter(({ name }) => results.has(name))
      .map(({ name, count }) => {
        const measured = results.get(name);
        return {
          name,
          cells: {
            wall: figureOf(measured.map(({ wallMs }) => wallMs / 1000)),
            each: figureOf(measured.map(({ wallMs }) => (wallMs * 1000) / count)),
            peak: figureOf(
              measured.map(({ peakRssBytes }) => (peakRssBytes === null ? null : peakRssBytes / MIB)),
            ),
          },
        };
      }),
  };
}
