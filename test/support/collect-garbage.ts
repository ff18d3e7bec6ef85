import { setImmediate as turn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** More than once: what a finalizer or a promise lets go of is collected only in the next turn. */
export async function collectGarbage(): Promise<void> {
  for (let round = 0; round < 4; round += 1) {
    await turn();
    collect();
  }
}
