import { type ReactNode, useMemo, useRef, useState } from "react";
import { api, dataOf } from "../api/client.js";
import { useLive } from "../api/use-live.js";
import { useKeys } from "../keys/use-keys.js";
import { Empty, Refused, Skeleton } from "../parts/Notice.js";
import { useNarrow } from "../parts/use-size.js";
import { addressOf } from "../place.js";
import { type Checked, type Survey, useCheck } from "./check.js";
import { EditorHead } from "./EditorHead.js";
import { Picture } from "./Picture.js";
import { type Draft, firstText, readWorkflow, type Stored } from "./read-workflow.js";
import { Problems, TextPane } from "./TextPane.js";
import type { SchemaPart } from "./text-completion.js";
import type { TextView } from "./text-view.js";
import { useDraft, useLeaving } from "./use-draft.js";
import { useChosen, useEdges } from "./use-edges.js";
import { type Asked, WorkbenchDialogs } from "./WorkbenchDialogs.js";

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

interface WorkbenchProps {
  readonly name: string;
  readonly version: number | null;
  /** Null if a run registered the workflow and its text was not kept. */
  readonly text: string | null;
  readonly draft: Draft | null;
  readonly stored: Stored | null;
  readonly mayAct: boolean;
  readonly reload: () => void;
}

/** Text and graph of one workflow, side by side. The graph is drawn from the text, and edits in it change the text. */
function Workbench({
  name,
  version,
  text: first,
  draft: opened,
  stored,
  mayAct,
  reload,
}: WorkbenchProps): ReactNode {
  const view = useRef<TextView | null>(null);
  const [text, setText] = useState(first ?? "");
  const [tab, setTab] = useState<"text" | "graph">("text");
  const [asked, setAsked] = useState<Asked | null>(null);
  const isNarrow = useNarrow();
  const mayEdit = mayAct && version === null && first !== null && !isNarrow;
  const draft = useDraft(name, version === null ? opened : null);
  const checked = useCheck(name, text);
  const graph = first === null ? surveyOfStored(stored) : checked.graph;
  const edges = useEdges(name, view);
  const chosen = useChosen(graph, view);
  const schema = useSchema(mayEdit);
  const isDirty = mayEdit && text !== plainBreaks(draft.state.saved ?? first ?? "");
  const leaving = useLeaving(isDirty);
  const steps = useMemo(
    () => (graph?.nodes ?? []).flatMap(({ step }) => (step === null ? [] : [step])),
    [graph],
  );
  const problems = checked.check?.problems ?? [];
  const mend = mayEdit ? (fix: Parameters<TextView["mend"]>[0]) => view.current?.mend(fix) : null;

  const save = async (basedOn?: number): Promise<void> => {
    if (mayEdit && !draft.state.busy) await draft.save(view.current!.written, basedOn);
  };
  const publish = async (): Promise<void> => {
    if (await draft.publish()) reload();
  };
  const startKey = {
    keys: "n",
    does: "start a run",
    run: () => {
      location.hash = addressOf(["workflows", name, "start"]);
    },
  };
  useKeys("Editor", [
    { keys: "mod+s", does: "save the draft", run: () => void save(), inFields: true },
    ...(mayAct && stored?.versions.some(({ published }) => published) === true ? [startKey] : []),
  ]);
  const marks = useMemo(
    () => ({
      problems: checked.check?.problems ?? [],
      warnings: checked.check?.warnings ?? [],
      lines: chosen.edge?.lines ?? null,
    }),
    [checked.check, chosen.edge],
  );
  return (
    <div className={`edit show-${tab}`}>
      <EditorHead
        name={name}
        stored={stored}
        version={version}
        draft={draft.state}
        mayEdit={mayEdit}
        mayAct={mayAct}
        isDirty={isDirty}
        problems={first === null ? null : problemCount(checked)}
        lastProblems={first === null ? 0 : problems.length}
        onSave={() => void save()}
        onPublish={() => void publish()}
        onDiscard={() => setAsked("discard")}
        onCompare={(compareFrom) => setAsked({ compareFrom })}
      />
      {draft.state.problem !== null && <Refused problem={draft.state.problem} />}
      {edges.problem !== null && <Refused problem={edges.problem} />}
      <nav className="tabs phone-tabs" aria-label="What to show">
        {(["text", "graph"] as const).map((each) => (
          <button key={each} type="button" aria-pressed={tab === each} onClick={() => setTab(each)}>
            {each === "text" ? "Text" : "Graph"}
          </button>
        ))}
      </nav>
      <div className="edbody">
        <section className="yaml" aria-label="Text">
          {first === null ? (
            <p className="pad dim">
              This version came from a run, and its text was not kept: a program built the workflow, or the
              text is very large or contains what looks like a secret. Keep its file as a draft:{" "}
              <code className="mono-s">daruma workflow save {name} FILE</code>
            </p>
          ) : (
            <TextPane
              text={first}
              view={view}
              mend={mend}
              marks={marks}
              schema={schema}
              steps={steps}
              onChange={setText}
              onCursor={chosen.chooseLine}
            />
          )}
        </section>
        <Picture
          graph={graph}
          isOld={checked.isOld}
          problems={problems}
          mayEdit={mayEdit}
          isShown={!isNarrow || tab === "graph"}
          isSettled={checked.isNow}
          steps={steps}
          chosen={chosen}
          edges={edges}
          view={view}
        />
      </div>
      {first !== null && (
        <Problems checked={checked} mend={mend} onGo={(line, column) => view.current?.goTo(line, column)} />
      )}
      <WorkbenchDialogs
        name={name}
        mine={text}
        draft={draft}
        leaving={leaving}
        asked={asked}
        onAnswered={() => setAsked(null)}
        onTake={(theirs) => view.current?.replaceAll(plainBreaks(theirs))}
        onSave={(basedOn) => void save(basedOn)}
      />
    </div>
  );
}

/** The number of problems; null if it is only known for an older text. */
function problemCount({ check, isNow }: Checked): number | null {
  return check === null || !isNow ? null : check.problems.length;
}

function useSchema(isWanted: boolean): SchemaPart | null {
  const { data } = useLive(
    `schema ${isWanted}`,
    async () => (isWanted ? ((await dataOf(api.GET("/api/v1/schema"))) as SchemaPart) : null),
    () => false,
  );
  return data;
}

function plainBreaks(text: string): string {
  return text.replaceAll("\r\n", "\n");
}

/** The graph of a stored version. Without a text its nodes have no lines. */
function surveyOfStored(stored: Stored | null): Survey | null {
  if (stored === null) return null;
  const { nodes, edges } = stored.graph as unknown as Survey;
  const none = { lines: null, transition: null, when: null, taken: null };
  return {
    nodes: nodes.map((node) => ({ ...node, lines: null })),
    edges: edges.map((edge) => ({ ...edge, ...none })),
  };
}
