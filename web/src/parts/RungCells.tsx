import type { ReactNode } from "react";
import type { RungMark } from "../../../src/tell/words/rung-marks.js";

const SIGNS: { readonly [mark in RungMark["mark"]]: (rung: RungMark) => string } = {
  acted: ({ times }) => String(times),
  hold: () => "",
  fail: () => "×",
  spent: () => "",
  no: () => "–",
  unset: () => "·",
  unreached: () => "",
};

/** The ladder with names: a cell for each rung, with its reason. */
export function RungCells({ marks }: { readonly marks: readonly RungMark[] }): ReactNode {
  return (
    <ol className="rungcells" aria-label="Ladder">
      {marks.map((mark) => (
        <li key={mark.rung} className={`rc-${mark.mark}`} title={`${mark.rung}: ${mark.reason}`}>
          <b aria-hidden="true">{SIGNS[mark.mark](mark)}</b>
          <span>{mark.rung}</span>
          <span className="sr">: {mark.reason}</span>
        </li>
      ))}
    </ol>
  );
}
