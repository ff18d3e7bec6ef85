// Durable steps a second on PostgreSQL, wide and chain, beside DBOS and openworkflow: `npm run bench` calls this.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { median } from "../measure.mjs";
import { handOverMs } from "./hand-over.mjs";
import { startPostgres } from "./server.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
const peers = fileURLToPath(new URL("../peers", import.meta.url));
const CONTENDERS = ["daruma", "dbos", "openworkflow"];

export async function benchPostgres({ rounds, wide, chain, handOvers }, printTable) {
  if (!existsSync(`${peers}/node_modules`))
    execFileSync("npm", ["ci", "--no-audit", "--no-fund"], { cwd: peers, stdio: "inherit" });
  const postgres = await startPostgres();
  try {
    for (const [shape, steps] of Object.entries({ wide, chain })) {
      const results = new Map(CONTENDERS.map((name) => [name, []]));
      for (let round = 0; round < rounds; round += 1) {
        for (const name of CONTENDERS) {
          const ms = measureOnce(name, await postgres.database(`${name}_${shape}`), shape, steps);
          if (ms === null) results.delete(name);
          else results.get(name)?.push(steps / (ms / 1000));
        }
      }
      const own = median(results.get("daruma") ?? []);
      const rows = [...results].map(([name, rates]) => {
        const rate = median(rates);
        return [name, rate.toFixed(0), `${(own / rate).toFixed(2)}x`];
      });
      printTable(
        `PostgreSQL, ${shape}, ${steps} steps that do nothing`,
        ["engine", "steps/s", "daruma / it"],
        rows,
      );
    }
    const ms = await handOverMs(await postgres.database("hand_over"), handOvers);
    console.log(
      `\nfrom the end of a job to the start of its dependent on another worker: ${ms.toFixed(1)} ms`,
    );
  } finally {
    await postgres.stop();
  }
}

function measureOnce(name, url, shape, steps) {
  const { stdout, stderr, status } = spawnSync("node", [`${here}${name}.mjs`, url, shape, String(steps)], {
    encoding: "utf8",
    timeout: 300_000,
  });
  const line = stdout.trim().split("\n").at(-1) ?? "";
  if (status === 0 && line.startsWith("{")) return JSON.parse(line).ms;
  console.log(`${name}: left out, ${stderr.trim().split("\n").at(-1) || `exit ${status}`}`);
  return null;
}
