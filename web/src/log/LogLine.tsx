import type { ReactNode } from "react";
import type { LineItem } from "./line-store.js";
import { type Segment, segmentsOf } from "./shown-text.js";

interface LogLineProps {
  readonly number: number;
  /** The line; null while it is being read. */
  readonly item: LineItem | null;
  readonly isAt: boolean;
  readonly isHit: boolean;
  /** Selects the line. Missing if it has no address. */
  readonly onChoose?: (line: number) => void;
  /** Shows a shortened line in full. Missing if the rest is not available. */
  readonly onWhole?: (item: LineItem) => void;
}

export function LogLine({ number, item, isAt, isHit, onChoose, onWhole }: LogLineProps): ReactNode {
  const look = ["ln", item?.error === true && "e", isAt && "at", isHit && "hit"].filter(Boolean).join(" ");
  return (
    <div className={look}>
      {onChoose === undefined ? (
        <i className="no">{number}</i>
      ) : (
        <button
          type="button"
          className="no"
          tabIndex={-1}
          aria-label={`Line ${number}`}
          title="Put this line into the address"
          onClick={() => onChoose(number)}
        >
          {number}
        </button>
      )}
      <span dir="ltr">
        {item !== null && <Segments segments={segmentsOf(item.text)} />}
        {item?.cut !== undefined &&
          (onWhole === undefined ? (
            <span className="rest">… {sizeText(item.cut.bytes)} in all</span>
          ) : (
            <button type="button" className="whole" onClick={() => onWhole(item)}>
              … show all {sizeText(item.cut.bytes)} of this line
            </button>
          ))}
      </span>
    </div>
  );
}

/** Shows plain text only: output of a step must not become markup. */
export function Segments({ segments }: { readonly segments: readonly Segment[] }): ReactNode {
  return segments.map(({ text, ink, bold, mark }, place) => {
    const look = [ink !== undefined && `ink-${ink}`, bold === true && "b", mark === true && "unseen"];
    const className = look.filter(Boolean).join(" ");
    if (className === "") return text;
    return (
      <bdi
        // biome-ignore lint/suspicious/noArrayIndexKey: a piece is what stands at its place
        key={place}
        className={className}
        title={mark === true ? "An invisible character" : undefined}
      >
        {text}
      </bdi>
    );
  });
}

export function sizeText(bytes: number): string {
  if (bytes < 1_024) return `${bytes} bytes`;
  return bytes < 1_024 * 1_024
    ? `${Math.round(bytes / 1_024)} KB`
    : `${(bytes / 1_024 / 1_024).toFixed(1)} MB`;
}
