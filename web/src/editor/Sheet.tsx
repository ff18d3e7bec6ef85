import { type ReactNode, useEffect, useId, useRef } from "react";
import { useKeys } from "../keys/use-keys.js";
import { Icon } from "../parts/Icon.js";

interface SheetProps {
  readonly title: string;
  readonly children: ReactNode;
  readonly footer?: ReactNode;
  readonly onClose: () => void;
}

/** A wide dialog over the editor. */
export function Sheet({ title, children, footer, onClose }: SheetProps): ReactNode {
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
