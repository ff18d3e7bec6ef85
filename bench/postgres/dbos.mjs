// node dbos.mjs URL wide|chain N: milliseconds for N steps that do nothing, in DBOS.
import { DBOS } from "../peers/node_modules/@dbos-inc/dbos-sdk/dist/src/index.js";

const [url, shape, count] = process.argv.slice(2);
const steps = Number(count);
const nothing = async () => null;
const chain = DBOS.registerWorkflow(
  async (length) => {
    for (let at = 0; at < length; at += 1) await DBOS.runStep(nothing, { name: `s${at}` });
  },
  { name: "chain" },
);
const wide = DBOS.registerWorkflow(
  async (width) => {
    await Promise.all(Array.from({ length: width }, (_, at) => DBOS.runStep(nothing, { name: `s${at}` })));
  },
  { name: "wide" },
);
DBOS.setConfig({ name: "bench", systemDatabaseUrl: url, logLevel: "error", enableOTLP: false });
await DBOS.launch();
const run = shape === "chain" ? chain : wide;
await run(10);
const startedAt = performance.now();
await run(steps);
console.log(JSON.stringify({ ms: performance.now() - startedAt }));
await DBOS.shutdown();
process.exit(0);
