import { type ReactNode, useRef } from "react";

export type Face =
  | "pending"
  | "running"
  | "completed"
  | "recovered"
  | "handled"
  | "held"
  | "paused"
  | "failed"
  | "canceled";

const BODY =
  "M12 1.6C6.2 1.6 2.2 6 2.2 12.2c0 4.3 1.8 7.6 4.2 9.3.6.5 1.3.7 2.1.7h7c.8 0 1.5-.2 2.1-.7 2.4-1.7 4.2-5 4.2-9.3C21.8 6 17.8 1.6 12 1.6z";
const FACE =
  "M12 5.5c1-.9 2.3-1.3 3.6-1.3 2.9 0 4.9 2.3 4.9 5.3 0 3.1-2.3 5.2-5.1 5.2H8.6c-2.8 0-5.1-2.1-5.1-5.2 0-3 2-5.3 4.9-5.3 1.3 0 2.6.4 3.6 1.3z";
const SEAM = "M4 17.2l3.3 1.5 2.3-1.7 2.8 2.3 2.7-2 2 1.6 2.5-1.5";

/** The number of painted eyes: one for the wish, the other when it is fulfilled. */
const EYES: { readonly [face in Face]: 0 | 1 | 2 } = {
  pending: 0,
  running: 1,
  completed: 2,
  recovered: 2,
  handled: 2,
  held: 1,
  paused: 1,
  failed: 1,
  canceled: 0,
};

/** The status of a run. Eyes, posture and the text beside it say the same as its colour. */
export function Doll({ face, size }: { readonly face: Face; readonly size?: "l" | "xl" }): ReactNode {
  const first = useRef(face);
  const look = `doll d-${face} ${size ?? ""}${first.current === face ? "" : " changed"}`;
  return (
    <svg className={look} viewBox="0 0 24 24" aria-hidden="true">
      <g key={face} className={face === "running" ? "sway" : "stance"}>
        <Drawing face={face} />
      </g>
      {face === "handled" && <circle className="notch" cx="20.6" cy="20" r="3.4" />}
      {face === "paused" && (
        <>
          <circle className="pbg" cx="19.6" cy="19" r="4.6" />
          <path className="bars" d="M18.2 17v4M21 17v4" />
        </>
      )}
    </svg>
  );
}

const POSTURE: { readonly [face in Face]?: string } = {
  held: "rotate(-20 12 21)",
  failed: "translate(0 1.5) rotate(96 12 12)",
};

function Drawing({ face }: { readonly face: Face }): ReactNode {
  const eyes = EYES[face];
  if (face === "canceled")
    return (
      <>
        <path className="body" d={BODY} />
        <path className="lid" d="M6 9.8h4.2M13.8 9.8H18" />
      </>
    );
  return (
    <g transform={POSTURE[face]}>
      <path className="body" d={BODY} />
      {face !== "pending" && <path className="face" d={FACE} />}
      <circle className="eye" cx="8.2" cy="9.7" r="2.9" />
      <circle className="eye" cx="15.8" cy="9.7" r="2.9" />
      {eyes > 0 && <circle className="pupil" cx="15.8" cy="9.7" r="1.9" />}
      {eyes > 1 && <circle className="pupil second" cx="8.2" cy="9.7" r="1.9" />}
      {(face === "recovered" || face === "handled") && <path className="seam" d={SEAM} />}
    </g>
  );
}

export function ProductDoll(): ReactNode {
  return (
    <svg className="doll product" viewBox="0 0 24 24" aria-hidden="true">
      <path className="body" d={BODY} />
      <path className="face" d={FACE} />
      <circle className="eye" cx="8.2" cy="9.7" r="2.9" />
      <circle className="eye" cx="15.8" cy="9.7" r="2.9" />
      <circle className="pupil" cx="15.8" cy="9.7" r="1.9" />
      <path className="brow" d="M5.6 6.2c1-.9 2.8-1.2 4.2-.5M18.4 6.2c-1-.9-2.8-1.2-4.2-.5" />
      <path className="seam" d="M7.5 18c2.6 1.6 6.4 1.6 9 0" />
    </svg>
  );
}
