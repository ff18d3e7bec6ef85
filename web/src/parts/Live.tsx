import { type ReactNode, useEffect, useState, useSyncExternalStore } from "react";
import { durationText } from "../../../src/tell/words/duration-text.js";
import { stream } from "../api/stream.js";

/** A connection lost for a shorter time is not mentioned. */
const PATIENCE_MS = 5_000;
const SECOND_MS = 1_000;

/** How old the data is if the connection is lost; null if it is not. */
function useLost(): { readonly ageMs: number; readonly nextMs: number | null } | null {
  const { live, heardAt, nextTryAt, refused } = useSyncExternalStore(stream.watch, () => stream.state);
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (live) return;
    const timer = setInterval(() => setNow(Date.now()), SECOND_MS);
    return () => clearInterval(timer);
  }, [live]);
  const ageMs = Math.max(0, now - heardAt);
  if (live || refused || ageMs < PATIENCE_MS) return null;
  return {
    ageMs: wholeSeconds(ageMs),
    nextMs: nextTryAt === null ? null : wholeSeconds(Math.max(0, nextTryAt - now)),
  };
}

function wholeSeconds(ms: number): number {
  return Math.round(ms / SECOND_MS) * SECOND_MS;
}

export function LiveDot(): ReactNode {
  const isLost = useLost() !== null;
  return <span className={isLost ? "livedot lost" : "livedot"}>{isLost ? "not connected" : "live"}</span>;
}

/** Says how old the data is while the connection is lost. The data stays on the page. */
export function LostBanner(): ReactNode {
  const lost = useLost();
  if (lost === null) return null;
  return (
    <div className="banner warn lostbanner">
      <span role="status">
        <b>Not connected.</b> What you see is {durationText(lost.ageMs)} old.
      </span>
      <span className="dim">
        {lost.nextMs === null ? "Trying now" : `Next try in ${durationText(lost.nextMs)}`}
      </span>
      <button type="button" className="btn end" onClick={() => stream.tryNow()}>
        Try now
      </button>
    </div>
  );
}
