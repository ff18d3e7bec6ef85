import { type ReactNode, useEffect, useId, useRef, useState } from "react";
import { nameOf } from "../../../src/tell/lookup/job-name.js";
import { api, dataOf } from "../api/client.js";
import { useKeys } from "../keys/use-keys.js";
import { addressOf } from "../place.js";

interface Target {
  readonly id: string;
  readonly group: "Page" | "Run" | "Step" | "Workflow";
  readonly words: string;
  readonly more: string;
  readonly href: string;
}

interface PaletteProps {
  readonly pages: readonly { readonly path: string; readonly words: string }[];
  readonly onClose: () => void;
}

const FIND_MS = 150;
const MOST = 6;
const LOOKED_THROUGH = 1_000;

/** Goes to a page, run, step or workflow by a few letters of its name. */
export function Palette({ pages, onClose }: PaletteProps): ReactNode {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const found = useFound(text.trim(), pages);
  const dialog = useRef<HTMLDialogElement>(null);
  const list = useId();
  useEffect(() => dialog.current?.showModal(), []);
  const go = (target: Target | undefined): void => {
    if (target === undefined) return;
    location.hash = target.href;
    onClose();
  };
  const chosen = Math.min(at, found.length - 1);
  useKeys(
    "Go to",
    [
      { keys: "esc", does: "close", run: onClose, inFields: true },
      {
        keys: "down",
        does: "next",
        run: () => setAt(Math.min(chosen + 1, found.length - 1)),
        inFields: true,
      },
      { keys: "up", does: "previous", run: () => setAt(Math.max(chosen - 1, 0)), inFields: true },
      { keys: "enter", does: "go there", run: () => go(found[chosen]), inFields: true },
    ],
    { modal: true },
  );
  return (
    <dialog ref={dialog} className="dialog palette" aria-label="Go to" onClose={onClose}>
      <input
        className="input"
        role="combobox"
        aria-label="Go to run, step, workflow"
        aria-expanded="true"
        aria-controls={list}
        aria-activedescendant={found[chosen] === undefined ? undefined : `${list}-${chosen}`}
        placeholder="The number of a run, or a part of an error, a step or a workflow"
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setAt(0);
        }}
      />
      <div id={list} role="listbox" aria-label="Found">
        {found.map((target, index) => (
          // biome-ignore lint/a11y/useFocusableInteractive: the field has the focus and says which is chosen
          // biome-ignore lint/a11y/useKeyWithClickEvents: Enter in the field does it
          <div
            key={target.id}
            id={`${list}-${index}`}
            role="option"
            aria-selected={index === chosen}
            className="found"
            onClick={() => go(target)}
          >
            <span className="small dim">{target.group}</span>
            <span className="cut" title={target.words}>
              {target.words}
            </span>
            <span className="end small dim cut">{target.more}</span>
          </div>
        ))}
      </div>
      {found.length === 0 && (
        <p className="dim pad">No run, step or workflow has this in its name, and no failure mentions it.</p>
      )}
    </dialog>
  );
}

function useFound(text: string, pages: PaletteProps["pages"]): readonly Target[] {
  const [found, setFound] = useState<readonly Target[]>([]);
  useEffect(() => {
    let current = true;
    const timer = setTimeout(() => {
      void search(text).then((targets) => current && setFound(targets));
    }, FIND_MS);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [text]);
  const low = text.toLowerCase();
  const ofPages = pages
    .filter(({ words }) => words.toLowerCase().includes(low))
    .map(
      ({ path, words }): Target => ({ id: path, group: "Page", words, more: "", href: addressOf([path]) }),
    );
  const number = /^#?(\d{1,15})$/.exec(text)?.[1];
  const byNumber: Target[] =
    number === undefined
      ? []
      : [
          {
            id: `run ${number}`,
            group: "Run",
            words: `#${number}`,
            more: "",
            href: addressOf(["runs", number]),
          },
        ];
  const all = [...byNumber, ...(text === "" ? ofPages : []), ...found, ...(text === "" ? [] : ofPages)];
  return [...new Map(all.map((target) => [target.id, target])).values()];
}

async function search(text: string): Promise<Target[]> {
  const asked = text === "" || /^#?\d+$/.test(text) ? {} : { text };
  const none = { items: [] };
  const [runs, jobs, workflows] = await Promise.all([
    dataOf(api.GET("/api/v1/runs", { params: { query: { ...asked, limit: MOST } } })).catch(() => none),
    "text" in asked
      ? dataOf(api.GET("/api/v1/jobs", { params: { query: { ...asked, limit: MOST } } })).catch(() => none)
      : none,
    dataOf(api.GET("/api/v1/workflows", { params: { query: { limit: LOOKED_THROUGH } } })).catch(() => none),
  ]);
  const low = text.toLowerCase();
  return [
    ...runs.items.map(
      ({ run_id, workflow, status }): Target => ({
        ...{ id: `run ${run_id}`, group: "Run", words: `#${run_id} ${workflow}`, more: status },
        href: addressOf(["runs", run_id]),
      }),
    ),
    ...jobs.items.map(
      ({ id, run_id, step, scope, status }): Target => ({
        ...{ id: `job ${id}`, group: "Step", words: nameOf(step, scope) },
        more: `run ${run_id}, ${status}`,
        href: addressOf(["runs", run_id, nameOf(step, scope)]),
      }),
    ),
    ...workflows.items
      .filter(({ name }) => name.toLowerCase().includes(low))
      .slice(0, MOST)
      .map(
        ({ name }): Target => ({
          ...{ id: `workflow ${name}`, group: "Workflow", words: name, more: "" },
          href: addressOf(["workflows", name]),
        }),
      ),
  ];
}
