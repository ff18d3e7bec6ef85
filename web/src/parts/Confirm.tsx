import { type ReactNode, useEffect, useId, useRef } from "react";
import { useKeys } from "../keys/use-keys.js";

interface ConfirmProps {
  readonly title: string;
  /** What it does, and what it does not affect. */
  readonly children: ReactNode;
  readonly yes: string;
  readonly no: string;
  readonly danger?: boolean;
  readonly onYes: () => void;
  readonly onNo: () => void;
}

/** Asks for confirmation. The harmless button has the focus. */
export function Confirm({ title, children, yes, no, danger = true, onYes, onNo }: ConfirmProps): ReactNode {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => dialog.current?.showModal(), []);
  useKeys(title, [{ keys: "esc", does: no, run: onNo, inFields: true }], { modal: true });
  return (
    <dialog ref={dialog} className="dialog" role="alertdialog" aria-labelledby={heading} onClose={onNo}>
      <div>
        <h2 id={heading}>{title}</h2>
        {children}
      </div>
      <footer>
        {/* biome-ignore lint/a11y/noAutofocus: pressing Enter without reading must not destroy anything */}
        <button type="button" className="btn" autoFocus onClick={onNo}>
          {no} <kbd>esc</kbd>
        </button>
        <button type="button" className={danger ? "btn danger" : "btn pri"} onClick={onYes}>
          {yes}
        </button>
      </footer>
    </dialog>
  );
}
