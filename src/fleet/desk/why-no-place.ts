import { isBuiltInAction } from "../../core/model/action-traits.js";
import { counted, durationAmount, sizeText } from "../../core/text/amount-text.js";
import { hasTags } from "../../run/worker/room.js";
import type { Needs } from "../../run/worker.js";
import { type Choice, isForHome, type LocalPart } from "./pool-placement.js";
import { runtimeOf } from "./pool-worker.js";

/** `worker`: no present worker can run it. `slot`: those that can are busy. The text is a clause. */
export interface NoPlace {
  readonly kind: "worker" | "slot";
  readonly text: string;
}

/** The clause for a step that is a function of a program. */
export function waitsForProgram({ actionType }: Pick<Needs, "actionType">): string {
  return `it waits for a program with ${actionType}`;
}

const lacking = (text: string): NoPlace => ({ kind: "worker", text });
const busy = (text: string): NoPlace => ({ kind: "slot", text });

/** Explains to people why a ready job does not start. */
export function whyNoPlace(needs: Needs, { local, workers, elapsed, standings }: Choice): NoPlace {
  if (needs.usesWorkspace) return whyNotAtHome(needs, local);
  if (needs.nodes > 1 && !workers.some((worker) => worker.couldRun(needs)))
    return lacking(
      `it needs ${needs.nodes} machines at once, which only an allocation of a cluster that is made for it has`,
    );
  const offers = workers.map(({ offer }) => offer.tags);
  if (local.slots > 0) offers.push([...local.tags]);
  if (offers.length === 0) return lacking("no worker is connected");
  if (!offers.some((tags) => hasTags(tags, needs.tags)))
    return lacking(`no connected worker has the tags ${needs.tags.join(", ")}`);
  const able = workers.filter((worker) => worker.couldRun(needs));
  const isForLocal = isForHome(needs, local, workers);
  if (able.length === 0 && !isForLocal)
    return lacking(
      isBuiltInAction(needs.actionType)
        ? `no connected worker can run actions of type ${needs.actionType}`
        : waitsForProgram(needs),
    );
  const lacked = needs.wants.filter((wanted) => able.every((worker) => worker.lacks(wanted)));
  if (!isForLocal && lacked.length > 0)
    return lacking(`no connected worker has the ${lacked.join(", the ")}`);
  if (!isForLocal && !able.some((worker) => worker.isBigEnoughFor(needs)))
    return lacking(`no connected worker has ${describe(needs)}`);
  if (!isForLocal && !able.some((worker) => worker.hasTimeFor(needs, elapsed)))
    return lacking(
      `the workers that could run it leave before its runtime (${durationAmount(runtimeOf(needs))}) is over`,
    );
  if (!isForLocal && !able.some((worker) => worker.isPresent(elapsed)))
    return lacking("the workers that could run it do not answer or are stopping");
  const out = able.filter(({ answersAs }) => standings.standingOf(answersAs) === "out");
  if (!isForLocal && out.length === able.length)
    return lacking(
      `the workers that could run it are in quarantine: ${[...new Set(out.map(({ answersAs }) => answersAs))].join(", ")}`,
    );
  return busy("the workers that can run it are busy");
}

function whyNotAtHome(needs: Needs, local: LocalPart): NoPlace {
  if (local.slots === 0)
    return lacking(
      "it works in the run's workspace, and the server that has it takes no steps itself (--max-parallel 0)",
    );
  if (!hasTags(local.tags, needs.tags))
    return lacking(
      `it works in the run's workspace, and the server that has it does not have the tags ${needs.tags.join(", ")}`,
    );
  return busy("it works in the run's workspace, and the server that has it is busy");
}

function describe({ slots, memoryBytes, gpus }: Needs): string {
  const parts = [counted(slots, "slot")];
  if (memoryBytes > 0) parts.push(`${sizeText(memoryBytes)} of memory`);
  if (gpus > 0) parts.push(counted(gpus, "GPU"));
  return parts.length < 3 ? parts.join(" and ") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
}
