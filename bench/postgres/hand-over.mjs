// From the end of a job on one worker to the start of its dependent on another: server, two workers and PostgreSQL,
// each a process of its own. The steps themselves say when they begin and end, so starting a process is part of it.
import { median } from "../measure.mjs";
import { freshFolder } from "../race.mjs";
import { runOnServer, withServers } from "../servers.mjs";

const POLL_MS = 200;
const NS_PER_MS = 1e6;

/**
 * Medians over all hand-overs of one run: `{ ms, processMs, engineMs }`. What a worker measures around a program, less
 * what the program measures itself, is the process's part: start, exit and files. The engine's part is the rest: the
 * report, the decision, its commit and the assignment.
 */
export function handOverMs(store, steps) {
  const workers = { a: ["--tags", "a"], b: ["--tags", "b"] };
  return withServers({ folder: freshFolder(), store, workers }, async ({ url }) => {
    const runId = await runOnServer(url, chainOf(steps), POLL_MS);
    const { jobs } = await read(`${url}/api/v1/runs/${runId}`);
    const durations = await durationsOf(url, runId);
    const stays = jobs
      .sort((one, other) => one.id - other.id)
      .map(({ id, output }) => {
        const [begin, end] = String(output)
          .split(/\s+/)
          .map((stamp) => Number(stamp) / NS_PER_MS);
        return { begin, end, around: durations.get(id) - (end - begin) };
      });
    const handOvers = stays.slice(1).map((next, index) => {
      const last = stays[index];
      // Start and exit are told together; half of each neighbour's is between the two.
      const processMs = (last.around + next.around) / 2;
      const ms = next.begin - last.end;
      return { ms, processMs, engineMs: ms - processMs };
    });
    const middle = (key) => median(handOvers.map((one) => one[key]));
    return { ms: middle("ms"), processMs: middle("processMs"), engineMs: middle("engineMs") };
  });
}

function chainOf(length) {
  const steps = Object.fromEntries(
    Array.from({ length }, (_, at) => [
      `s${at}`,
      {
        exec: "date +%s%N; date +%s%N",
        runs_on: [at % 2 === 0 ? "a" : "b"],
        ...(at > 0 ? { depends_on: [`s${at - 1}`] } : {}),
      },
    ]),
  );
  return { name: "hand-over", steps };
}

/** By job: what its worker measured. */
async function durationsOf(url, runId) {
  const durations = new Map();
  for (let after = 0; after !== null; ) {
    const { items, next } = await read(`${url}/api/v1/runs/${runId}/events?after=${after}`);
    for (const { type, job, duration_ms } of items)
      if (type === "attempt.succeeded") durations.set(job, duration_ms);
    after = next;
  }
  return durations;
}

async function read(address) {
  return (await fetch(address)).json();
}
