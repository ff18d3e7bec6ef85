// node daruma.mjs URL wide|chain N: milliseconds for N steps that do nothing, in Daruma.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Daruma, defineWorkflow } from "../../dist/index.js";

const [url, shape, count] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "daruma-bench-out-"));
const daruma = await Daruma.open({
  store: url,
  outputDir: folder,
  maxParallel: 64,
  actions: { nothing: async () => null },
});
const workflow = (length) =>
  defineWorkflow(
    {
      name: `${shape}${length}`,
      steps: Object.fromEntries(
        Array.from({ length }, (_, at) => [
          `s${at}`,
          { type: "nothing", ...(shape === "chain" && at > 0 ? { depends_on: [`s${at - 1}`] } : {}) },
        ]),
      ),
    },
    { actions: ["nothing"] },
  );
const run = async (definition) => {
  const { result } = await daruma.start(definition);
  const { status } = await result;
  if (status !== "completed") throw new Error(`the run is ${status}`);
};
await run(workflow(10));
const definition = workflow(Number(count));
const startedAt = performance.now();
await run(definition);
console.log(JSON.stringify({ ms: performance.now() - startedAt }));
await daruma.close();
rmSync(folder, { recursive: true, force: true });
process.exit(0);
