import type { ReactNode } from "react";
import { useLive } from "../api/use-live.js";
import { Empty, Refused } from "../parts/Notice.js";
import { Skeleton } from "../parts/Skeleton.js";
import { addressOf } from "../place.js";
import { firstText, readWorkflow } from "./read-workflow.js";
import { Workbench } from "./Workbench.js";

interface EditorProps {
  readonly name: string;
  readonly version: number | null;
  readonly mayAct: boolean;
  /** Whether somebody asked to edit. A workflow that does not exist is then a new one. */
  readonly isAsked: boolean;
}

/** Opens a draft, or if there is none the newest version, or the version in the address. */
export function Editor({ name, version, mayAct, isAsked }: EditorProps): ReactNode {
  const { data, problem, reload } = useLive(
    `editor ${name} ${version}`,
    () => readWorkflow(name, version),
    () => false,
  );
  if (problem !== null && data === null) return <Refused problem={problem} />;
  if (data === null) return <Skeleton />;
  const { draft, stored } = data;
  const isNew = draft === null && stored === null;
  if (isNew && !(isAsked && mayAct))
    return (
      <Empty title={`There is no workflow ${name}`}>
        <a className="link" href={addressOf(["workflows"])}>
          Show all workflows
        </a>
      </Empty>
    );
  const text = version === null ? (draft?.source ?? stored?.text) : stored?.text;
  return (
    <Workbench
      key={String(version)}
      name={name}
      version={version}
      text={text ?? (stored === null ? firstText(name) : null)}
      draft={draft}
      stored={stored}
      mayAct={mayAct}
      reload={reload}
    />
  );
}
