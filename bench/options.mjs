// The words of the benchmark's own command line.
import { parseArgs } from "node:util";
import { PARTS, SIZES } from "./sizes.mjs";

export const HELP = `Usage: npm run bench -- --all | --quick | --tiny [options]
       npm run bench -- --merge FILE

Measures Daruma beside other programs on this machine. Rounds are interleaved, so that a busy minute hurts every
program alike. Each figure is a median with the least and the greatest value. Nothing here is a test: a slow machine
never fails it. The exit code is 1 only where Daruma itself could not do the work.

  --all           the full sizes; wants an idle machine and most of an hour
  --quick         small sizes, with the recorded ratios beside the measured ones
  --tiny          a few jobs, only to see that every part works
  --only PART     measure this part only; may be given several times
                  (${PARTS.join(", ")})
  --json FILE     also write the results as JSON
  --record        keep the results in bench/recorded.json, each part in place of what was recorded of it before; then
                  \`npm run docs:benchmarks\` writes docs/benchmarks.md
  --merge FILE    measure nothing, but record what --json wrote to FILE; may be given several times
  --help          print this help

Programs that are not installed are left out and named. The peers of the PostgreSQL part are packages of their own:
npm ci --prefix bench/peers
`;

/** `{ mode, parts, json, record }`, or `{ help }`, `{ merge }` or `{ problem }`. */
export function readOptions(args) {
  let values;
  try {
    values = parseArgs({
      args,
      options: {
        all: { type: "boolean" },
        quick: { type: "boolean" },
        tiny: { type: "boolean" },
        only: { type: "string", multiple: true, default: [] },
        json: { type: "string" },
        record: { type: "boolean", default: false },
        merge: { type: "string", multiple: true },
        help: { type: "boolean", short: "h" },
      },
    }).values;
  } catch (error) {
    return { problem: error.message };
  }
  if (values.help) return { help: true };
  const modes = Object.keys(SIZES).filter((mode) => values[mode]);
  if (values.merge !== undefined)
    return modes.length + values.only.length > 0 || values.json !== undefined || values.record
      ? { problem: "--merge measures nothing; leave out the other options" }
      : { merge: values.merge };
  if (modes.length !== 1) return { problem: "choose one of --all, --quick and --tiny" };
  const unknown = values.only.filter((part) => !PARTS.includes(part));
  if (unknown.length > 0)
    return { problem: `unknown part ${unknown.join(", ")}; choose from ${PARTS.join(", ")}` };
  if (values.record && modes[0] === "tiny") return { problem: "--tiny measures nothing worth recording" };
  const parts = values.only.length > 0 ? PARTS.filter((part) => values.only.includes(part)) : PARTS;
  return { mode: modes[0], parts, json: values.json, record: values.record };
}
