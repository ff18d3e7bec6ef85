import { type ReactNode, useState } from "react";
import { Segments } from "../../log/LogLine.js";
import { segmentsOf } from "../../log/shown-text.js";

interface TextPaneProps {
  readonly title: ReactNode;
  readonly about?: ReactNode;
  /** A warning to see before reading the text. */
  readonly warning?: string;
  readonly text: string;
  /** Shown beside the copy button. */
  readonly tools?: ReactNode;
  /** The number of a line if it differs from its position; null for no number. */
  readonly numberOf?: (place: number) => number | null;
  readonly lookOf?: (line: string, place: number) => string;
}

/** More lines are only in the file, not on the page. */
const MAX_LINES = 1_000;

/** A text as numbered lines. It is never rendered as markup. */
export function TextPane({ title, about, warning, text, tools, numberOf, lookOf }: TextPaneProps): ReactNode {
  const [copied, setCopied] = useState(false);
  const lines = text.replace(/\n$/, "").split("\n");
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
  };
  return (
    <section className="textpane">
      <div className="logtools">
        <b>{title}</b>
        {about !== undefined && <span className="dim small">{about}</span>}
        <span className="grow" />
        {tools}
        <button type="button" className="btn" onClick={() => void copy()}>
          {copied ? "Copied" : "Copy"}
        </button>
      </div>
      {warning !== undefined && <div className="sh">{warning}</div>}
      <div className="textlines">
        {lines.slice(0, MAX_LINES).map((line, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a line is what stands at its place
          <div className={`ln ${lookOf?.(line, place) ?? ""}`} key={place}>
            <i>{numberOf === undefined ? place + 1 : numberOf(place)}</i>
            <span dir="ltr">
              <Segments segments={segmentsOf(line)} />
            </span>
          </div>
        ))}
        {lines.length > MAX_LINES && (
          <p className="pad dim">and {lines.length - MAX_LINES} more lines; Copy has all of them</p>
        )}
      </div>
    </section>
  );
}
