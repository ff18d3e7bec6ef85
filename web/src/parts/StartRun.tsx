import type { ReactNode } from "react";
import { Keys } from "../keys/KeysOverlay.js";
import { useKeys } from "../keys/use-keys.js";
import { addressOf } from "../place.js";

/** A link to the list of workflows, from which runs are started. */
export function StartRun(): ReactNode {
  const href = addressOf(["workflows"]);
  useKeys("Runs", [
    {
      keys: "n",
      does: "start a run: choose its workflow",
      run: () => {
        location.hash = href;
      },
    },
  ]);
  return (
    <a className="btn pri" href={href} title="Choose the workflow to start">
      Start run <Keys keys="n" />
    </a>
  );
}
