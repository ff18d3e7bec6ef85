import type { ReactNode } from "react";
import { api, dataOf } from "../api/client.js";
import { useLive } from "../api/use-live.js";
import { Refused } from "../parts/Notice.js";
import { Sheet } from "./Sheet.js";

interface CompareProps {
  readonly name: string;
  readonly from: number;
  readonly to: number | "draft";
  readonly onClose: () => void;
}

const MARKS = { same: " ", removed: "−", added: "+", skipped: " " } as const;

/** Shows what differs between two versions: first steps, then lines. */
export function CompareVersions({ name, from, to, onClose }: CompareProps): ReactNode {
  const { data, problem } = useLive(
    `compare ${name} ${from} ${to}`,
    () =>
      dataOf(
        api.GET("/api/v1/workflows/{name}/comparison", {
          params: { path: { name }, query: { from, to } },
        }),
      ),
    () => false,
  );
  const after = to === "draft" ? "the draft as it was saved" : `version ${to}`;
  return (
    <Sheet title={`From version ${from} to ${after}`} onClose={onClose}>
      {problem !== null && <Refused problem={problem} />}
      {data !== null && (
        <>
          {data.definition === null ? (
            <p className="dim">The draft has problems, so its steps cannot be compared.</p>
          ) : (
            <Changes {...data.definition} />
          )}
          {data.lines === null ? (
            <p className="dim">A run registered one of them without its text.</p>
          ) : (
            <pre className="difflines">
              {data.lines.map(({ kind, before, after: now, text }) => (
                <span key={`${before} ${now} ${text}`} className={`l ${kind}`}>
                  {MARKS[kind]} {text}
                  {"\n"}
                </span>
              ))}
            </pre>
          )}
          {data.left_off > 0 && <p className="dim">{data.left_off} more lines</p>}
        </>
      )}
    </Sheet>
  );
}

interface ChangesProps {
  readonly keys: readonly string[];
  readonly steps: readonly {
    readonly step: string;
    readonly change: string;
    readonly keys: readonly string[];
  }[];
}

function Changes({ keys, steps }: ChangesProps): ReactNode {
  if (keys.length + steps.length === 0) return <p className="dim">Nothing that a run would notice.</p>;
  return (
    <ul className="changes">
      {keys.length > 0 && (
        <li>
          <b>workflow</b> {keys.join(", ")}
        </li>
      )}
      {steps.map(({ step, change, keys: of }) => (
        <li key={step}>
          <b className="mono">{step}</b> {change === "changed" ? of.join(", ") : change}
        </li>
      ))}
    </ul>
  );
}
