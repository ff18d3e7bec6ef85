// node openworkflow.mjs URL wide|chain N: milliseconds for N steps that do nothing, in openworkflow.
import { OpenWorkflow } from "../peers/node_modules/openworkflow/dist/index.js";
import { BackendPostgres } from "../peers/node_modules/openworkflow/dist/postgres.js";

const [url, shape, count] = process.argv.slice(2);
const backend = await BackendPostgres.connect(url);
const open = new OpenWorkflow({ backend });
const nothing = async () => null;
const chain = open.defineWorkflow({ name: "chain" }, async ({ input, step }) => {
  for (let at = 0; at < input.steps; at += 1) await step.run({ name: `s${at}` }, nothing);
});
const wide = open.defineWorkflow({ name: "wide" }, async ({ input, step }) => {
  await Promise.all(Array.from({ length: input.steps }, (_, at) => step.run({ name: `s${at}` }, nothing)));
});
const worker = open.newWorker({ concurrency: 4 });
await worker.start();
const run = async (steps) => (await (shape === "chain" ? chain : wide).run({ steps })).result();
await run(10);
const startedAt = performance.now();
await run(Number(count));
console.log(JSON.stringify({ ms: performance.now() - startedAt }));
process.exit(0);
