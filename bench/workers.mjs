// Many short jobs over two workers: what a server and its workers carry, how large they become, and how soon a worker
// has the next job of a sweep.
import { join } from "node:path";
import { median } from "./measure.mjs";
import { figureOf, race } from "./race.mjs";
import { runOnServer, withServers } from "./servers.mjs";

const MIB = 1024 * 1024;
const POLL_MS = 250;
const SLOTS = 8;
const HAND_OVERS = 100;
const NS_PER_MS = 1e6;
const WORKERS = {
  w1: ["--slots", String(SLOTS), "--tags", "many"],
  w2: ["--slots", String(SLOTS), "--tags", "many"],
};
/** With one slot, so that each of its jobs follows the one before. */
const SINGLE = { w3: ["--slots", "1", "--tags", "single"] };

const jobsOf = (count) => `${count.toLocaleString("en")} jobs`;

export async function benchWorkers({ rounds, jobs }, skipped) {
  const contenders = Object.fromEntries(
    jobs.map((count) => [jobsOf(count), (folder) => shortJobs(folder, count)]),
  );
  const results = await race(contenders, rounds, skipped);
  const columns = [
    { key: "rate", title: "jobs/s", digits: 0 },
    { key: "server", title: "server, peak MiB", digits: 0 },
    { key: "worker", title: "larger worker, peak MiB", digits: 0 },
    { key: "serverCpu", title: "server, CPU us/job", digits: 0 },
    { key: "workerCpu", title: "workers, CPU us/job", digits: 0 },
    { key: "handOver", title: "job to job in a slot, ms", digits: 1 },
  ];
  const cellsOf = (measurements) =>
    Object.fromEntries(columns.map(({ key }) => [key, figureOf(measurements.map((one) => one[key]))]));
  const part = {
    id: "workers",
    title: "short jobs over two workers",
    note: `each job is \`true\`; ${SLOTS} slots a worker, the server takes no steps itself, SQLite; from the request to the end of the run. CPU is without that of the programs`,
    rounds,
    columns,
    rows: [...results].map(([name, measurements]) => ({ name, cells: cellsOf(measurements) })),
  };
  return [part];
}

function shortJobs(folder, count) {
  const store = join(folder, "runs.db");
  return withServers(
    { folder, store, workers: { ...WORKERS, ...SINGLE } },
    async ({ url, peakRss, cpuMs }) => {
      const names = Object.keys(WORKERS);
      const spent = () => [cpuMs("server"), ...names.map(cpuMs)];
      const before = spent();
      const startedAt = performance.now();
      await runOnServer(url, batchOf(count, "true", "many"), POLL_MS);
      const seconds = (performance.now() - startedAt) / 1000;
      const [server, ...workers] = spent().map((ms, at) => ms - before[at]);
      const handOver = await handOverMs(url, Math.min(count, HAND_OVERS));
      return {
        handOver,
        rate: count / seconds,
        server: peakRss("server") / MIB,
        worker: Math.max(...names.map(peakRss)) / MIB,
        serverCpu: (server * 1000) / count,
        workerCpu: (workers.reduce((sum, ms) => sum + ms, 0) * 1000) / count,
      };
    },
  );
}

/** From one job to the next, as the programs tell it: the report, the decision, the assignment, and a program's start. */
async function handOverMs(url, count) {
  const runId = await runOnServer(url, batchOf(count, "date +%s%N", "single"), POLL_MS);
  const { jobs } = await (await fetch(`${url}/api/v1/runs/${runId}`)).json();
  const begun = jobs.map(({ output }) => Number(output) / NS_PER_MS).sort((one, other) => one - other);
  return median(begun.slice(1).map((at, index) => at - begun[index]));
}

/** In a few words: the whole of it would be larger than a request may be. */
function batchOf(count, command, tag) {
  const job = { name: "j{i}", parameters: { i: `1:${count}` }, command, runs_on: [tag] };
  return { name: "short", jobs: [job] };
}
