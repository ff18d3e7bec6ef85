// Durable steps a second on PostgreSQL, wide and chain, beside DBOS and openworkflow; and a hand-over between workers.
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { measure } from "../measure.mjs";
import { compare, figureOf, leaveOut, race } from "../race.mjs";
import { handOverMs } from "./hand-over.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
const PEERS = { DBOS: ["dbos", "@dbos-inc/dbos-sdk"], openworkflow: ["openworkflow", "openworkflow"] };

/** The version of a peer's package, or null: it is not installed. */
export function peerVersion(name) {
  const file = fileURLToPath(
    new URL(`../peers/node_modules/${PEERS[name][1]}/package.json`, import.meta.url),
  );
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")).version : null;
}

export async function benchPostgres({ rounds, wide, chain }, skipped) {
  const programs = { daruma: "daruma" };
  for (const [name, [program]] of Object.entries(PEERS)) {
    if (peerVersion(name) !== null) programs[name] = program;
    else skipped.push({ name, reason: "not installed: npm ci --prefix bench/peers" });
  }
  return withPostgres(skipped, async (postgres) => {
    const parts = [];
    for (const [shape, steps] of Object.entries({ wide, chain })) {
      const contenders = Object.fromEntries(
        Object.entries(programs).map(([name, program]) => [name, contender(postgres, program, shape, steps)]),
      );
      const results = await race(contenders, rounds, skipped);
      const figure = {
        key: "rate",
        title: "steps/s",
        digits: 0,
        of: ({ wallMs }) => steps / (wallMs / 1000),
      };
      const title = `PostgreSQL, ${shape}: ${steps} steps that do nothing`;
      const note =
        "each process connects and warms up before it is timed; fsync and synchronous_commit are on";
      parts.push({ id: `postgres-${shape}`, title, note, rounds, ...compare(results, figure) });
    }
    return parts;
  });
}

export async function benchHandOver({ rounds, steps }, skipped) {
  return withPostgres(skipped, async (postgres) => {
    let round = 0;
    const handOver = async () => handOverMs(await postgres.database(`hand_over_${round++}`), steps);
    const results = await race({ daruma: handOver }, rounds, skipped);
    const columns = [
      { key: "ms", title: "ms", digits: 1 },
      { key: "engineMs", title: "engine, ms", digits: 1 },
      { key: "processMs", title: "process, ms", digits: 1 },
    ];
    const rows = [...results].map(([name, measurements]) => ({
      name,
      cells: Object.fromEntries(
        columns.map(({ key }) => [key, figureOf(measurements.map((one) => one[key]))]),
      ),
    }));
    const part = {
      id: "hand-over",
      title: "from the end of a job to the start of its dependent on another worker",
      note:
        `server, two workers and PostgreSQL on this machine; a round is the median of ${steps - 1} hand-overs. ` +
        "Process: start and exit of the program, as its worker sees them. Engine: report, decision, commit and assignment",
      rounds,
      columns,
      rows,
    };
    return [part];
  });
}

/** The server is a package for development, with binaries for some systems only. */
async function withPostgres(skipped, bench) {
  let postgres;
  try {
    const { startPostgres } = await import("./server.mjs");
    postgres = await startPostgres();
  } catch (error) {
    leaveOut(skipped, { name: "PostgreSQL", reason: error.message });
    return [];
  }
  try {
    return await bench(postgres);
  } finally {
    await postgres.stop();
  }
}

/** Each program times itself, without its start, and prints the time in its last line. */
function contender(postgres, program, shape, steps) {
  return async () => {
    const url = await postgres.database(`${program}_${shape}`);
    const { stdout } = await measure(process.execPath, [`${here}${program}.mjs`, url, shape, String(steps)], {
      capture: true,
    });
    return { wallMs: JSON.parse(stdout.trim().split("\n").at(-1)).ms };
  };
}
