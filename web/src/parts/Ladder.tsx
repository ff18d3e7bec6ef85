import type { ReactNode } from "react";
import type { RungMark } from "../../../src/tell/words/rung-marks.js";

const WORDS: { readonly [mark in RungMark["mark"]]: (rung: RungMark) => string } = {
  acted: ({ rung, times }) => `${rung} acted${times > 1 ? ` ${times} times` : ""}`,
  hold: () => "hold",
  fail: () => "fails",
  spent: ({ rung }) => `${rung} used up`,
  no: ({ rung }) => `${rung} no`,
  unset: ({ rung }) => `${rung} not set`,
  unreached: () => "",
};

const WIDTH = 11.5;

/** The ladder from left to right, with the rungs that considered a failure and the one that acted. */
export function LadderStrip({ marks }: { readonly marks: readonly RungMark[] }): ReactNode {
  const words = marks
    .map((mark) => WORDS[mark.mark](mark))
    .filter(Boolean)
    .join(", ");
  const width = marks.length * WIDTH - 1.5;
  return (
    <svg className="ladder" viewBox={`0 0 ${width} 18`} role="img" aria-label={`Ladder: ${words}`}>
      <title>{words}</title>
      <path className="rail-l" d={`M1 2.5H${width - 1}M1 15.5H${width - 1}`} />
      {marks.map((mark, index) => (
        <Rung key={mark.rung} mark={mark} x={5 + index * WIDTH} />
      ))}
    </svg>
  );
}

function Rung({ mark: { mark, times }, x }: { readonly mark: RungMark; readonly x: number }): ReactNode {
  const bar = (className: string): ReactNode => (
    <rect className={className} x={x - 4.5} y="0" width="9" height="18" rx="2" />
  );
  switch (mark) {
    case "acted":
      return (
        <>
          {bar("act")}
          {times > 1 && (
            <text x={x} y="12">
              {times}
            </text>
          )}
        </>
      );
    case "hold":
      return (
        <>
          {bar("end-hold")}
          <path className="sign" d={`M${x - 1.7} 6v6M${x + 1.7} 6v6`} />
        </>
      );
    case "fail":
      return (
        <>
          {bar("end-fail")}
          <path className="sign" d={`m${x - 2} 7 4 4m0-4-4 4`} />
        </>
      );
    case "spent":
      return <rect className="spent" x={x - 3} y="2.5" width="6" height="13" rx="1" />;
    case "no":
      return <path className="no" d={`M${x} 2.5v13`} />;
    case "unset":
      return <path className="off" d={`M${x} 7.5v3`} />;
    case "unreached":
      return null;
  }
}

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
