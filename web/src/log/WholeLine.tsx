import { type ReactNode, useEffect, useRef, useState } from "react";
import { useKeys } from "../keys/use-keys.js";
import { sizeText } from "./LogLine.js";
import { type LineItem, type LineStore, readBytes } from "./line-store.js";

/** A longer line must be downloaded. */
const MAX_SHOWN_BYTES = 4 * 1_024 * 1_024;

/** Shows a line that is too long for the log in full, as plain text. */
export function WholeLine({
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
