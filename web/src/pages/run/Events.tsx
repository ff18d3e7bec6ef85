import type { ReactNode } from "react";
import { api, dataOf } from "../../api/client.js";
import { useLive } from "../../api/use-live.js";
import { Refused } from "../../parts/Notice.js";
import { clockTime } from "../../words/times.js";

const PAGE = 500;
/** Shown elsewhere in the row, or of no use to people. */
const LEFT_OUT = new Set(["seq", "at", "type", "step", "scope", "job", "token"]);

/** The log as it was written. */
export function Events({ runId }: { readonly runId: number }): ReactNode {
  const { data, problem } = useLive(
    `events ${runId}`,
    () =>
      dataOf(
        api.GET("/api/v1/runs/{run_id}/events", {
          params: { path: { run_id: runId }, query: { limit: PAGE } },
        }),
      ),
    (changed) => changed === runId,
  );
  if (problem !== null) return <Refused problem={problem} />;
  return (
    <>
      <table className="t events">
        <tbody>
          {data?.items.map((event) => {
            const rest = Object.fromEntries(Object.entries(event).filter(([key]) => !LEFT_OUT.has(key)));
            const text = Object.keys(rest).length === 0 ? "" : JSON.stringify(rest);
            return (
              <tr key={event.seq}>
                <td className="r dim">{event.seq}</td>
                <td className="dim num">{clockTime(event.at)}</td>
                <td className="mono-s">{event.type}</td>
                <td className="mono-s">{event.step ?? ""}</td>
                <td className="wide cut mono-s dim" title={text}>
                  {text}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {data != null && data.items.length >= PAGE && (
        <p className="small dim pad">
          The first {PAGE} events. All of them: <code className="mono-s">daruma events {runId}</code>
        </p>
      )}
    </>
  );
}
