import { tmpdir } from "node:os";
import { stuckLeftovers } from "../../run/worker/scratch-folder.js";
import { type Check, ok, warning } from "./check.js";

const MAX_NAMED = 10;

/** Raw outputs of steps lie here: no run minds them, but they take room, and nobody has hidden secrets in them. */
export const checkScratch: Check = {
  name: "scratch",
  async run() {
    const stuck = await stuckLeftovers();
    if (stuck.length === 0) return [ok(`nothing that could not be removed is left in ${tmpdir()}`)];
    const some = stuck.slice(0, MAX_NAMED).join(" ");
    const more = stuck.length > MAX_NAMED ? ` and ${stuck.length - MAX_NAMED} more` : "";
    return [
      warning(
        `processes that were killed have left what could not be removed: ${some}${more}`,
        `Remove it by hand: \`chmod -R u+rwX FOLDER; rm -rf FOLDER\`. It may hold outputs of steps in which secrets are not hidden.`,
      ),
    ];
  },
};
