import { z } from "zod";
import { DarumaError } from "../../core/errors/errors.js";
import { answerableFor } from "../../core/model/worker-names.js";
import { free, type HealthState, stateOf } from "../../core/quarantine/quarantine.js";
import { openHealthRows } from "../../run/engine/health/health-rows.js";
import type { Context } from "../context.js";
import { operation } from "../operation.js";
import { nameOfPrincipal } from "../put-command.js";
import { key } from "../schemas.js";
import { healthState } from "./worker-health.js";

const MAX_NAME_CHARS = 400;
const MAX_REASON_CHARS = 1_000;

export const releaseWorker = operation({
  name: "release_worker",
  summary: "end the quarantine of a worker by hand",
  description: "Ends the quarantine of a worker, or of a node of a cluster, so that it gets attempts again.",
  role: "operator",
  onlyForPeople: true,
  effect: "changes",
  keepsAnswer: true,
  input: z.strictObject({
    name: z
      .string()
      .min(1)
      .max(MAX_NAME_CHARS)
      .describe("A worker's name, or CLUSTER/NODE for a node of a cluster."),
    reason: z.string().trim().min(1).max(MAX_REASON_CHARS).describe("The reason; it is shown to others."),
    key,
  }),
  output: z.object({ name: z.string(), was: healthState, state: healthState }),
  rest: { method: "POST", path: "/workers/release/{name}", lastTakesSlashes: true },
  cli: [
    {
      words: "workers release",
      positional: ["name"],
      examples: ['daruma workers release gpu-1 --reason "the disk has room again"'],
    },
  ],
  async handler(context, { name: given, reason }) {
    const { store, now, principal } = context;
    const rows = openHealthRows(store, { now });
    await rows.readAll();
    const name = nameIn(context, rows.get(given) !== null, given);
    const by = nameOfPrincipal(principal);
    const states: HealthState[] = [];
    await rows.changeOne(name, (health, at) => {
      states.push(stateOf(health, at));
      return free(health, { at, by, reason });
    });
    return { name, was: states.at(-1)!, state: "healthy" as const };
  },
});

/** The name by which its quarantine is known: a worker is also found by the name that the log gives it. */
function nameIn({ runner }: Context, isKnown: boolean, given: string): string {
  if (isKnown) return given;
  for (const worker of runner?.listWorkers() ?? []) {
    const name = answerableFor(worker.name, worker);
    if (name !== null && (name === given || worker.name === given || worker.name.startsWith(`${given}/`)))
      return name;
  }
  throw new DarumaError("WORKER_NOT_FOUND", `there is no worker ${given}, and no quarantine of that name`, {
    hint: { typed: "List them with `daruma workers`.", asked: "List them with list_workers." },
  });
}
