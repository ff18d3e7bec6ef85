import type { ReactNode } from "react";

/** More marks could not be told apart. */
const MAX_MARKS = 200;

interface OverviewProps {
  readonly total: number;
  readonly errorLines: readonly number[];
  readonly seen: { readonly first: number; readonly last: number };
  readonly onGo: (line: number) => void;
}

/** An overview of the whole log: where its errors are, and which part is visible. The keys n and p do the same. */
export function Overview({ total, errorLines, seen, onGo }: OverviewProps): ReactNode {
  const share = (line: number): string => `${(100 * (line - 1)) / Math.max(1, total)}%`;
  const places = [
    ...new Set(errorLines.map((line) => Math.floor((MAX_MARKS * (line - 1)) / Math.max(1, total)))),
  ];
  const height = `${Math.max(1, (100 * (seen.last - seen.first + 1)) / Math.max(1, total))}%`;
  return (
    <div
      className="overview"
      aria-hidden="true"
      onPointerDown={({ nativeEvent, currentTarget }) => {
        const at = nativeEvent.offsetY / currentTarget.clientHeight;
        onGo(Math.min(total, 1 + Math.floor(at * total)));
      }}
    >
      <u style={{ top: share(seen.first), height }} />
      {places.map((place) => (
        <b key={place} style={{ top: `${(100 * place) / MAX_MARKS}%` }} />
      ))}
    </div>
  );
}
