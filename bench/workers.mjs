// Many short jobs over two workers: what a server and its workers carry, and how large they become.
import { join } from "node:path";
import { figureOf, race } from "./race.mjs";
import { runOnServer, withServers } from "./servers.mjs";

const MIB = 1024 * 1024;
const POLL_MS = 250;
const SLOTS = 8;
const WORKERS = { w1: ["--slots", String(SLOTS)], w2: ["--slots", String(SLOTS)] };

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
  return withServers({ folder, store, workers: WORKERS }, async ({ url, peakRss, cpuMs }) => {
    const names = Object.keys(WORKERS);
    const spent = () => [cpuMs("server"), ...names.map(cpuMs)];
    const before = spent();
    const startedAt = performance.now();
    await runOnServer(url, batchOf(count), POLL_MS);
    const seconds = (performance.now() - startedAt) / 1000;
    const [server, ...workers] = spent().map((ms, at) => ms - before[at]);
    return {
      rate: count / seconds,
      server: peakRss("server") / MIB,
      worker: Math.max(...names.map(peakRss)) / MIB,
      serverCpu: (server * 1000) / count,
      workerCpu: (workers.reduce((sum, ms) => sum + ms, 0) * 1000) / count,
    };
  });
}

/** In a few words: the whole of it would be larger than a request may be. */
function batchOf(count) {
  return { name: "short", jobs: [{ name: "j{i}", parameters: { i: `1:${count}` }, command: "true" }] };
}
