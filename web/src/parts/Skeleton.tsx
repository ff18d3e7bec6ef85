import { type ReactNode, useEffect, useState } from "react";

/** What comes sooner than this needs no sign that it is on its way. */
const PATIENCE_MS = 300;

/** Rows of the page to come, without anything that moves. */
export function Skeleton({ rows = 8 }: { readonly rows?: number }): ReactNode {
  const [isShown, setIsShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setIsShown(true), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, []);
  if (!isShown) return null;
  return (
    <div className="skeleton" role="status">
      <span className="sr">Loading</span>
      {Array.from({ length: rows }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they are all alike
        <div key={index} className="sk-row" aria-hidden="true">
          <i className="sk" />
          <i className="sk" />
          <i className="sk" />
        </div>
      ))}
    </div>
  );
}
