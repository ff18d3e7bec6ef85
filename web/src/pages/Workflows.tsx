import { type FormEvent, lazy, type ReactNode, Suspense, useEffect, useRef, useState } from "react";
import { api, dataOf } from "../api/client.js";
import { useLive } from "../api/use-live.js";
import { useKeys } from "../keys/use-keys.js";
import { Button } from "../parts/Button.js";
import { Listing } from "../parts/Listing.js";
import { Empty, Refused, Skeleton } from "../parts/Notice.js";
import { PageTabs } from "../parts/PageHead.js";
import { StartLink } from "../parts/StartLink.js";
import { useMinute } from "../parts/use-minute.js";
import { addressOf, type Place } from "../place.js";
import { exactTime, since } from "../words/times.js";
import { Last20 } from "./runs/RunTable.js";
import { StartRun } from "./workflows/StartRun.js";

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

const TOLD = 20;

/** The outcomes of a workflow's last runs, as in the list of runs. */
function LastRuns({ workflow }: { readonly workflow: string }): ReactNode {
  const newest = useRef(0);
  const { data } = useLive(
    `last ${workflow}`,
    () => dataOf(api.GET("/api/v1/runs", { params: { query: { workflow, limit: 1, outcomes: true } } })),
    (changed) => changed >= newest.current - TOLD,
  );
  newest.current = data?.items[0]?.run_id ?? 0;
  const outcomes = data?.outcomes?.[workflow] ?? [];
  if (outcomes.length === 0) return <span className="dim small">{data === null ? "" : "no runs yet"}</span>;
  return (
    <a className="lasts" href={addressOf(["runs"], { workflow })}>
      <Last20 outcomes={outcomes} />
    </a>
  );
}

interface Item {
  readonly name: string;
  readonly version: number | null;
  readonly published: boolean;
  readonly draft: { readonly revision: number; readonly updated_at: string } | null;
}

async function readWorkflows(before: string | null): Promise<{ items: Item[]; next: number | null }> {
  const query = { limit: 100, ...(before === null ? {} : { before: Number(before) }) };
  const [stored, drafts] = await Promise.all([
    dataOf(api.GET("/api/v1/workflows", { params: { query } })),
    dataOf(api.GET("/api/v1/drafts")),
  ]);
  const draftOf = new Map(drafts.items.map((draft) => [draft.name, draft]));
  const items: Item[] = stored.items.map(({ name, version, published }) => ({
    ...{ name, version, published },
    draft: draftOf.get(name) ?? null,
  }));
  for (const { name } of stored.items) draftOf.delete(name);
  const unpublished = [...draftOf.values()].map(
    (draft): Item => ({ name: draft.name, version: null, published: false, draft }),
  );
  return { items: before === null ? [...unpublished, ...items] : items, next: stored.next };
}

/** All workflows with their newest version, their draft and the outcomes of their last runs. */
function WorkflowList({ place, mayAct }: { readonly place: Place; readonly mayAct: boolean }): ReactNode {
  const before = place.query.get("before");
  const { data, problem } = useLive(
    `workflows ${before}`,
    () => readWorkflows(before),
    () => true,
  );
  return (
    <div className="runs">
      <div className="row wrap bar-of-filters">
        <PageTabs of="workflows" current="workflows" />
        {mayAct && <NewWorkflow />}
        <span className="end small dim">newest first</span>
      </div>
      {problem !== null && <Refused problem={problem} />}
      {data === null && problem === null && <Skeleton />}
      {data !== null &&
        (data.items.length === 0 ? (
          <NoWorkflows mayAct={mayAct} />
        ) : (
          <Table items={data.items} mayAct={mayAct} />
        ))}
      {data?.next != null && (
        <a className="btn more" href={addressOf(["workflows"], { before: String(data.next) })}>
          Older workflows
        </a>
      )}
    </div>
  );
}

function NewWorkflow(): ReactNode {
  const [name, setName] = useState("");
  const open = (event: FormEvent): void => {
    event.preventDefault();
    if (name.trim() !== "") location.hash = addressOf(["workflows", name.trim(), "edit"]);
  };
  return (
    <form className="row hide-s" onSubmit={open}>
      <input
        className="input"
        aria-label="Name of a new workflow"
        placeholder="name of a new workflow"
        maxLength={200}
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <Button why={name.trim() === "" ? "Type its name first" : null} submits>
        New workflow
      </Button>
    </form>
  );
}

function NoWorkflows({ mayAct }: { readonly mayAct: boolean }): ReactNode {
  return (
    <Empty title="No workflows yet">
      {mayAct && <span className="hide-s">Name your first workflow above, then press New workflow. </span>}A
      workflow is also kept here when it runs, or when it is published:{" "}
      <code className="mono-s">daruma workflow save NAME FILE</code>, then{" "}
      <code className="mono-s">daruma workflow publish NAME</code>
    </Empty>
  );
}

/** The workflow that was selected by keys. */
function useChosenWorkflow(items: readonly Item[]): string | null {
  const [chosen, setChosen] = useState<string | null>(null);
  const at = items.findIndex(({ name }) => name === chosen);
  const go = (to: number): void =>
    setChosen(items[Math.max(0, Math.min(to, items.length - 1))]?.name ?? null);
  useEffect(() => {
    if (chosen !== null) document.querySelector("tr.sel")?.scrollIntoView({ block: "nearest" });
  }, [chosen]);
  useKeys("Workflows", [
    { keys: "j|down", does: "next workflow", run: () => go(at + 1) },
    { keys: "k|up", does: "previous workflow", run: () => go(at - 1) },
    {
      keys: "enter",
      does: "open the workflow",
      run: () => {
        if (chosen !== null) location.hash = addressOf(["workflows", chosen]);
      },
    },
  ]);
  return chosen;
}

function Table({ items, mayAct }: { readonly items: readonly Item[]; readonly mayAct: boolean }): ReactNode {
  const chosen = useChosenWorkflow(items);
  const now = useMinute();
  return (
    <Listing
      items={items}
      keyOf={({ name }) => name}
      chosen={chosen}
      columns={[
        {
          name: "Workflow",
          cell: ({ name }) => (
            <a className="link mono cut name-cell" title={name} href={addressOf(["workflows", name])}>
              {name}
            </a>
          ),
        },
        {
          name: "Newest version",
          cell: ({ version, published }) =>
            version === null ? (
              <span className="dim">none yet</span>
            ) : (
              <span>
                v{version} <span className="dim small">{published ? "published" : "from a run"}</span>
              </span>
            ),
        },
        {
          name: "Draft",
          cell: ({ name, draft }) =>
            draft !== null && (
              <a href={addressOf(["workflows", name, "edit"])} title={`saved ${exactTime(draft.updated_at)}`}>
                <span className="chip line">revision {draft.revision}</span>{" "}
                <span className="dim small">{since(draft.updated_at, now)}</span>
              </a>
            ),
        },
        { name: "Last 20 runs", look: "wide", cell: ({ name }) => <LastRuns workflow={name} /> },
        mayAct
          ? {
              name: "Run",
              isPlain: true,
              look: "r",
              cell: ({ name, published }) => <StartLink name={name} version={null} isPublished={published} />,
            }
          : null,
      ]}
    />
  );
}
