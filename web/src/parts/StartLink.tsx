import type { ReactNode } from "react";
import { Keys } from "../keys/KeysOverlay.js";
import { useKeys } from "../keys/use-keys.js";
import { addressOf } from "../place.js";
import { Button } from "./Button.js";

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

interface StartLinkProps {
  readonly name: string;
  /** The version; null for the newest. */
  readonly version: number | null;
  readonly isPublished: boolean;
  readonly hasKey?: boolean;
}

/** A link to the form that starts a run. */
export function StartLink({ name, version, isPublished, hasKey = false }: StartLinkProps): ReactNode {
  if (!isPublished) return <Button why="Publish a version first: runs are started from it">Start run</Button>;
  const query = { version: version === null ? null : String(version) };
  return (
    <a className="btn" href={addressOf(["workflows", name, "start"], query)}>
      Start run {hasKey && <Keys keys="n" />}
    </a>
  );
}
