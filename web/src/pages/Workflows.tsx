import { lazy, type ReactNode, Suspense } from "react";
import { Skeleton } from "../parts/Skeleton.js";
import type { Place } from "../place.js";
import { StartRun } from "./workflows/StartRun.js";
import { WorkflowList } from "./workflows/WorkflowList.js";

const Editor = lazy(async () => ({ default: (await import("../editor/Editor.js")).Editor }));

/** Serves `#/workflows`, `#/workflows/NAME`, `#/workflows/NAME/edit` and `#/workflows/NAME/start`. */
export function WorkflowPages({
  place,
  mayAct,
}: {
  readonly place: Place;
  readonly mayAct: boolean;
}): ReactNode {
  const [, name, what] = place.path;
  if (name === undefined) return <WorkflowList place={place} mayAct={mayAct} />;
  if (what === "start") return <StartRun key={name} name={name} place={place} mayAct={mayAct} />;
  const version = place.query.get("version");
  return (
    <Suspense fallback={<Skeleton />}>
      <Editor
        key={`${name} ${version}`}
        name={name}
        version={version === null ? null : Number(version)}
        mayAct={mayAct}
        isAsked={what === "edit"}
      />
    </Suspense>
  );
}
