import { type ReactNode, useEffect, useId, useRef } from "react";
import { type DiffLine, diffTexts } from "../../../src/core/text/diff-lines.js";
import { api, dataOf } from "../api/client.js";
import { useLive } from "../api/use-live.js";
import { useKeys } from "../keys/use-keys.js";
import { Confirm } from "../parts/Confirm.js";
import { Icon } from "../parts/Icon.js";
import { Refused } from "../parts/Notice.js";
import { addressOf } from "../place.js";
import { exactTime } from "../words/times.js";
import type { Draft } from "./read-workflow.js";
import type { useDraft, useLeaving } from "./use-draft.js";

interface CompareProps {
  readonly name: string;
  readonly from: number;
  readonly to: number | "draft";
  readonly onClose: () => void;
}

const MARKS = { same: " ", removed: "−", added: "+", skipped: " " } as const;

/** Shows what differs between two versions: first steps, then lines. */
function CompareVersions({ name, from, to, onClose }: CompareProps): ReactNode {
  const { data, problem } = useLive(
    `compare ${name} ${from} ${to}`,
    () =>
      dataOf(
        api.GET("/api/v1/workflows/{name}/comparison", {
          params: { path: { name }, query: { from, to } },
        }),
      ),
    () => false,
  );
  const after = to === "draft" ? "the draft as it was saved" : `version ${to}`;
  return (
    <Sheet title={`From version ${from} to ${after}`} onClose={onClose}>
      {problem !== null && <Refused problem={problem} />}
      {data !== null && (
        <>
          {data.definition === null ? (
            <p className="dim">The draft has problems, so its steps cannot be compared.</p>
          ) : (
            <Changes {...data.definition} />
          )}
          {data.lines === null ? (
            <p className="dim">A run registered one of them without its text.</p>
          ) : (
            <pre className="difflines">
              {data.lines.map(({ kind, before, after: now, text }) => (
                <span key={`${before} ${now} ${text}`} className={`l ${kind}`}>
                  {MARKS[kind]} {text}
                  {"\n"}
                </span>
              ))}
            </pre>
          )}
          {data.left_off > 0 && <p className="dim">{data.left_off} more lines</p>}
        </>
      )}
    </Sheet>
  );
}

interface ChangesProps {
  readonly keys: readonly string[];
  readonly steps: readonly {
    readonly step: string;
    readonly change: string;
    readonly keys: readonly string[];
  }[];
}

function Changes({ keys, steps }: ChangesProps): ReactNode {
  if (keys.length + steps.length === 0) return <p className="dim">Nothing that a run would notice.</p>;
  return (
    <ul className="changes">
      {keys.length > 0 && (
        <li>
          <b>workflow</b> {keys.join(", ")}
        </li>
      )}
      {steps.map(({ step, change, keys: of }) => (
        <li key={step}>
          <b className="mono">{step}</b> {change === "changed" ? of.join(", ") : change}
        </li>
      ))}
    </ul>
  );
}

/** Showing more lines side by side is slow. Such texts can be compared with the command line. */
const MAX_LINES = 3_000;

interface ConflictProps {
  readonly theirs: Draft;
  readonly mine: string;
  readonly onTake: () => void;
  readonly onSaveMine: () => void;
  readonly onClose: () => void;
}

/** Shows both texts side by side after somebody else has saved. Nothing has been written. */
function Conflict({ theirs, mine, onTake, onSaveMine, onClose }: ConflictProps): ReactNode {
  const lines = diffTexts(theirs.source, mine);
  const shown = lines.slice(0, MAX_LINES);
  return (
    <Sheet
      title={`Somebody else saved revision ${theirs.revision}`}
      onClose={onClose}
      footer={
        <>
          <button type="button" className="btn" onClick={onClose}>
            Back to my text
          </button>
          <button type="button" className="btn" onClick={onTake}>
            Go on from theirs
          </button>
          <button type="button" className="btn danger" onClick={onSaveMine}>
            Save mine over revision {theirs.revision}
          </button>
        </>
      }
    >
      <p className="small dim">
        Nothing was written. Theirs is of {exactTime(theirs.updated_at)}. If you go on from theirs, undo
        brings your text back.
      </p>
      <table className="sides">
        <thead>
          <tr>
            <th>Theirs, revision {theirs.revision}</th>
            <th>Mine</th>
          </tr>
        </thead>
        <tbody>
          {pairsOf(shown).map(({ at, left, right }) => (
            <tr key={at}>
              <td className={left !== null && right?.kind !== "same" ? "del" : ""}>{left?.text}</td>
              <td className={right !== null && right.kind !== "same" ? "add" : ""}>{right?.text}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {lines.length > shown.length && <p className="dim">{lines.length - shown.length} more lines</p>}
    </Sheet>
  );
}

interface LinePair {
  readonly at: number;
  readonly left: DiffLine | null;
  readonly right: DiffLine | null;
}

/** Pairs removed lines with the lines added in their place. */
function pairsOf(lines: readonly DiffLine[]): LinePair[] {
  const pairs: LinePair[] = [];
  let removed: DiffLine[] = [];
  const flush = (): void => {
    for (const left of removed) pairs.push({ at: pairs.length, left, right: null });
    removed = [];
  };
  for (const line of lines) {
    if (line.kind === "removed") removed.push(line);
    else if (line.kind === "added")
      pairs.push({ at: pairs.length, left: removed.shift() ?? null, right: line });
    else {
      flush();
      pairs.push({ at: pairs.length, left: line, right: line });
    }
  }
  flush();
  return pairs;
}

/** The dialog that a button of the editor asked for. */
export type Asked = "discard" | { readonly compareFrom: number };

interface DialogsProps {
  readonly name: string;
  readonly mine: string;
  readonly draft: ReturnType<typeof useDraft>;
  readonly leaving: ReturnType<typeof useLeaving>;
  readonly asked: Asked | null;
  readonly onAnswered: () => void;
  readonly onTake: (theirs: string) => void;
  readonly onSave: (basedOn: number) => void;
}

/** The dialogs of the editor. */
export function WorkbenchDialogs(props: DialogsProps): ReactNode {
  const { name, mine, draft, leaving, asked, onAnswered, onTake, onSave } = props;
  const { clash } = draft.state;
  return (
    <>
      {clash !== null && clash.theirs !== null && (
        <Conflict
          theirs={clash.theirs}
          mine={mine}
          onTake={() => {
            const theirs = clash.theirs!;
            onTake(theirs.source);
            draft.take(theirs);
          }}
          onSaveMine={() => onSave(clash.theirs!.revision)}
          onClose={draft.closeClash}
        />
      )}
      {clash !== null && clash.theirs === null && (
        <Confirm
          title={`Somebody else discarded the draft of ${name}`}
          no="Back to my text"
          yes="Save mine as a new draft"
          onNo={draft.closeClash}
          onYes={() => onSave(0)}
        >
          <p>Nothing was written. Your text is still here.</p>
        </Confirm>
      )}
      {asked === "discard" && (
        <Confirm
          title={`Discard the draft of ${name}?`}
          no="Keep it"
          yes="Discard draft"
          onNo={() => onAnswered()}
          onYes={() => void discard(draft, leaving.leave)}
        >
          <p>Its text is gone then. Versions published from it stay.</p>
        </Confirm>
      )}
      {asked !== null && asked !== "discard" && (
        <CompareVersions name={name} from={asked.compareFrom} to="draft" onClose={() => onAnswered()} />
      )}
      {leaving.wanted !== null && (
        <Confirm
          title="Leave without saving?"
          no="Stay"
          yes="Leave without saving"
          onNo={leaving.stay}
          onYes={leaving.leave}
        >
          <p>What you have changed in {name} since it was saved is lost.</p>
        </Confirm>
      )}
    </>
  );
}

async function discard(draft: ReturnType<typeof useDraft>, leave: () => void): Promise<void> {
  if (!(await draft.discard())) return;
  leave();
  location.hash = addressOf(["workflows"]);
}

interface SheetProps {
  readonly title: string;
  readonly children: ReactNode;
  readonly footer?: ReactNode;
  readonly onClose: () => void;
}

/** A wide dialog over the editor. */
function Sheet({ title, children, footer, onClose }: SheetProps): ReactNode {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => dialog.current?.showModal(), []);
  useKeys(title, [{ keys: "esc", does: "close", run: onClose, inFields: true }], { modal: true });
  return (
    <dialog ref={dialog} className="dialog wide" aria-labelledby={heading} onClose={onClose}>
      <header className="row">
        <h2 id={heading}>{title}</h2>
        {/* biome-ignore lint/a11y/noAutofocus: the harmless button has the focus */}
        <button type="button" className="btn icon ghost end" aria-label="Close" autoFocus onClick={onClose}>
          <Icon name="cross" small />
        </button>
      </header>
      <div className="sheetbody">{children}</div>
      {footer !== undefined && <footer>{footer}</footer>}
    </dialog>
  );
}
