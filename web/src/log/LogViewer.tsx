import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { useKeys } from "../keys/use-keys.js";
import { sizeText } from "./LogLine.js";
import { LogPane } from "./LogPane.js";
import { LogTools, type Shown } from "./LogTools.js";
import { type LineItem, type LineStore, readBytes } from "./line-store.js";
import type { LogStreamName } from "./line-window.js";
import { type Hit, useFind, useLineStore } from "./use-lines.js";

/** A longer line must be downloaded. */
const MAX_SHOWN_BYTES = 4 * 1_024 * 1_024;

/** Shows a line that is too long for the log in full, as plain text. */
function WholeLine({
  store,
  item,
  onClose,
}: {
  readonly store: LineStore;
  readonly item: LineItem;
  readonly onClose: () => void;
}): ReactNode {
  const [text, setText] = useState<string | null>(null);
  const dialog = useRef<HTMLDialogElement>(null);
  const { line, cut } = item;
  const bytes = Math.min(cut?.bytes ?? 0, MAX_SHOWN_BYTES);
  useEffect(() => dialog.current?.showModal(), []);
  useEffect(() => {
    void readBytes(store.place, { offset: cut?.offset ?? 0, bytes }).then(setText);
  }, [store, cut, bytes]);
  useKeys("This line", [{ keys: "esc", does: "close", run: onClose, inFields: true }], { modal: true });
  return (
    <dialog ref={dialog} className="dialog whole-line" aria-labelledby="whole-line" onClose={onClose}>
      <div>
        <h2 id="whole-line">
          Line {line} of {store.place.stream}, {sizeText(cut?.bytes ?? 0)}
        </h2>
        <textarea readOnly aria-label={`Line ${line}`} value={text ?? "Reading it"} />
        <div className="row g3">
          {bytes < (cut?.bytes ?? 0) && (
            <span className="small dim">The first {sizeText(bytes)}; download the log for the rest.</span>
          )}
          <span className="grow" />
          <button
            type="button"
            className="btn"
            onClick={() => void navigator.clipboard.writeText(text ?? "")}
          >
            Copy
          </button>
          <button type="button" className="btn pri" onClick={onClose}>
            Close
          </button>
        </div>
      </div>
    </dialog>
  );
}

interface LogViewerProps {
  readonly jobId: number;
  readonly attempt: number;
  readonly isRunning: boolean;
  readonly hasFailed: boolean;
  /** The line in the address. */
  readonly line: Hit | null;
  readonly onLine: (at: Hit) => void;
}

/** A larger text is of no use in a clipboard. */
const MAX_COPIED_BYTES = 8 * 1_024 * 1_024;

/** Shows both streams, one above the other, because it is unknown how their lines were interleaved. */
export function LogViewer(props: LogViewerProps): ReactNode {
  const { jobId, attempt, isRunning, hasFailed, line, onLine } = props;
  const stderr = useLineStore({ jobId, attempt, stream: "stderr" }, isRunning);
  const stdout = useLineStore({ jobId, attempt, stream: "stdout" }, isRunning);
  const [shown, setShown] = useState<Shown>("both");
  const [wrap, setWrap] = useState(true);
  /** Null: nobody has chosen yet. An attempt may begin to run after it is shown. */
  const [follow, setFollow] = useState<boolean | null>(null);
  const [whole, setWhole] = useState<{ store: LineStore; item: LineItem } | null>(null);
  const [text, setText] = useState("");
  const [regex, setRegex] = useState(false);
  const [copied, setCopied] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const stores = [stderr, stdout].filter(({ place }) => shown === "both" || place.stream === shown);
  const found = useFind(
    stores.map(({ place }) => place),
    text,
    regex,
  );
  const errors = stores.flatMap(({ place: { stream }, facts }) =>
    (facts?.errorLines ?? []).map((at): Hit => ({ stream, line: at })),
  );
  const isFollowing = (follow ?? line === null) && isRunning;
  const at = line ?? (isFollowing ? null : (errors[0] ?? null));
  const [atStream, atLine] = [at?.stream ?? null, at?.line ?? 0];
  const target = useMemo(
    () => (atStream === null ? null : { stream: atStream, line: atLine }),
    [atStream, atLine],
  );
  const goTo = (place: Hit): void => {
    setFollow(false);
    onLine(place);
  };
  const stepIn = (list: readonly Hit[], by: 1 | -1): void => {
    const next = nextOf(list, at, by);
    if (next !== null) goTo(next);
  };
  const bytes = stores.reduce((sum, { facts }) => sum + (facts?.size ?? 0), 0);
  const copy = async (): Promise<void> => {
    const texts = await Promise.all(stores.map(({ place }) => readBytes(place, { offset: 0, bytes })));
    await navigator.clipboard.writeText(texts.join(""));
    setCopied(true);
  };
  useKeys("Log", [
    { keys: "n", does: "next error", run: () => stepIn(errors, 1) },
    { keys: "p", does: "previous error", run: () => stepIn(errors, -1) },
    { keys: "w", does: "wrap long lines", run: () => setWrap(!wrap) },
    { keys: "f", does: "follow the end while it runs", run: () => isRunning && setFollow(!isFollowing) },
    { keys: "/", does: "find in the log", run: () => field.current?.focus() },
  ]);
  const hitsIn = (stream: LogStreamName): ReadonlySet<number> =>
    new Set(found.hits.filter((hit) => hit.stream === stream).map((hit) => hit.line));
  return (
    <div className="log">
      <LogTools
        shown={shown}
        counts={{ stderr: stderr.facts?.total ?? 0, stdout: stdout.facts?.total ?? 0 }}
        onShow={setShown}
        find={{
          field,
          text,
          regex,
          found,
          place: placeIn(found.hits, at),
          onText: setText,
          onRegex: setRegex,
          onStep: (by) => stepIn(found.hits, by),
        }}
        errors={{
          place: placeIn(errors, at),
          count: stores.reduce((sum, { facts }) => sum + (facts?.errorCount ?? 0), 0),
          onStep: (by) => stepIn(errors, by),
        }}
        wrap={{ on: wrap, onSwitch: () => setWrap(!wrap) }}
        follow={{ on: isFollowing, isRunning, onSwitch: () => setFollow(!isFollowing) }}
        copy={{
          words: copied ? "Copied" : "Copy",
          problem: bytes > MAX_COPIED_BYTES ? "Too long to copy: download it instead" : null,
          onCopy: () => void copy(),
        }}
      />
      <div className="logpanes">
        {stores.map((store) => (
          <LogPane
            key={`${attempt} ${store.place.stream}`}
            store={store}
            target={target?.stream === store.place.stream ? target : null}
            hits={hitsIn(store.place.stream)}
            wrap={wrap}
            follow={isFollowing}
            opensAtEnd={hasFailed && at?.stream !== store.place.stream}
            note={noteOf(store, line, at)}
            onChoose={(chosen) => goTo({ stream: store.place.stream, line: chosen })}
            onWhole={(item) => setWhole({ store, item })}
            onLeaveEnd={() => setFollow(false)}
          />
        ))}
      </div>
      {whole !== null && <WholeLine {...whole} onClose={() => setWhole(null)} />}
    </div>
  );
}

function noteOf({ place, facts }: LineStore, line: Hit | null, at: Hit | null): string {
  if (facts === null || facts.total === 0) return "";
  if (facts.errorCount === 0) return "no line looks like an error";
  return line === null && at?.stream === place.stream ? "opened at the first error line" : "";
}

function placeIn(list: readonly Hit[], at: Hit | null): number {
  return list.findIndex(({ stream, line }) => stream === at?.stream && line === at.line) + 1;
}

const ORDER: readonly LogStreamName[] = ["stderr", "stdout"];

/** The next hit after the present line. After the last comes the first. */
function nextOf(list: readonly Hit[], at: Hit | null, by: 1 | -1): Hit | null {
  if (list.length === 0) return null;
  if (at === null) return (by === 1 ? list[0] : list.at(-1)) ?? null;
  const rank = ({ stream, line }: Hit): number => ORDER.indexOf(stream) * 1e12 + line;
  const found =
    by === 1 ? list.find((hit) => rank(hit) > rank(at)) : list.findLast((hit) => rank(hit) < rank(at));
  return found ?? (by === 1 ? list[0] : list.at(-1)) ?? null;
}
