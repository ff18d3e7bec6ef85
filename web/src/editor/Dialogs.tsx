import type { ReactNode } from "react";
import { useKeys } from "../keys/use-keys.js";

interface AskProps {
  readonly title: string;
  readonly children: ReactNode;
  readonly stay: string;
  readonly go: string;
  readonly onStay: () => void;
  readonly onGo: () => void;
}

/** Names what is lost; the harmless button has the focus. */
export function Ask({ title, children, stay, go, onStay, onGo }: AskProps): ReactNode {
  useKeys(title, [{ keys: "escape", does: stay, run: onStay, inFields: true }], { modal: true });
  return (
    <div className="veil">
      <div className="dialog" role="alertdialog" aria-modal="true" aria-label={title}>
        <div>
          <h2>{title}</h2>
          <p>{children}</p>
        </div>
        <footer>
          {/* biome-ignore lint/a11y/noAutofocus: the harmless button has the focus */}
          <button type="button" className="btn" autoFocus onClick={onStay}>
            {stay}
          </button>
          <button type="button" className="btn danger" onClick={onGo}>
            {go}
          </button>
        </footer>
      </div>
    </div>
  );
}

interface SheetProps {
  readonly title: string;
  readonly children: ReactNode;
  readonly footer?: ReactNode;
  readonly onClose: () => void;
}

/** A wide dialog over the editor. */
export function Sheet({ title, children, footer, onClose }: SheetProps): ReactNode {
  useKeys(title, [{ keys: "escape", does: "close", run: onClose, inFields: true }], { modal: true });
  return (
    <div className="veil">
      <div className="dialog wide" role="dialog" aria-modal="true" aria-label={title}>
        <header className="row">
          <h2>{title}</h2>
          {/* biome-ignore lint/a11y/noAutofocus: the harmless button has the focus */}
          <button type="button" className="btn icon ghost end" aria-label="Close" autoFocus onClick={onClose}>
            ×
          </button>
        </header>
        <div className="sheetbody">{children}</div>
        {footer !== undefined && <footer>{footer}</footer>}
      </div>
    </div>
  );
}
