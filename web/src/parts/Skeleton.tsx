import { type ReactNode, useEffect, useState } from "react";

/** Content that arrives sooner needs no placeholder. */
const PATIENCE_MS = 300;

/** Placeholder rows without animation. */
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
