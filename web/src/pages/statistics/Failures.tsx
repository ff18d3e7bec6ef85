import type { ReactNode } from "react";
import { durationText } from "../../../../src/report/words/duration-text.js";
import { api, dataOf } from "../../api/client.js";
import { useLive } from "../../api/use-live.js";
import { addressOf } from "../../place.js";
import { numberText, percentText } from "../../words/statistics.js";

interface Asked {
  readonly since: string;
  readonly workflow: string | null;
}

const SHOWN = 8;

function asked({ since, workflow }: Asked) {
  return { since, ...(workflow === null ? {} : { workflow }), limit: SHOWN };
}

/** From the failure book, each signature once. */
export function Failures({ since, workflow }: Asked): ReactNode {
  const query = { ...asked({ since, workflow }), state: ["all" as const] };
  const { data } = useLive(
    JSON.stringify(query),
    () => dataOf(api.GET("/api/v1/failures", { params: { query } })),
    () => false,
  );
  return (
    <section className="panel" aria-label="Failures">
      <header>
        <h2>Failures, newest first</h2>
        <span className="small dim end">counted since they were first seen</span>
      </header>
      {data !== null && data.items.length === 0 && <p className="small dim pad">Nothing has failed.</p>}
      {data !== null && data.items.length > 0 && (
        <div className="scroll">
          <table className="t">
            <thead>
              <tr>
                <th className="wide">What</th>
                <th>Step</th>
                <th>What rescued it</th>
                <th className="r">Runs</th>
                <th className="r">Met</th>
              </tr>
            </thead>
            <tbody>
              {data.items.map((item) => (
                <tr key={`${item.workflow} ${item.step} ${item.signature}`}>
                  <td className="wide cut" title={item.sample}>
                    <a href={addressOf(["runs", item.last_run, item.step])}>{item.sample}</a>
                  </td>
                  <td className="of cut" title={`${item.step} in ${item.workflow}`}>
                    <span className="mono-s">{item.step}</span>{" "}
                    <span className="dim small">{item.workflow}</span>
                  </td>
                  <td className="small dim">{item.rescued_by === "" ? "nothing yet" : item.rescued_by}</td>
                  <td className="r">{numberText(item.runs)}</td>
                  <td className="r">{numberText(item.occurrences)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

/** Steps that passed by retry alone, costliest first. */
export function Flakes({ since, workflow }: Asked): ReactNode {
  const query = asked({ since, workflow });
  const { data } = useLive(
    JSON.stringify(query),
    () => dataOf(api.GET("/api/v1/flakes", { params: { query } })),
    () => false,
  );
  return (
    <section className="panel" aria-label="Flaky steps">
      <header>
        <h2>Flaky steps</h2>
        <span className="small dim end">passed by retry alone</span>
      </header>
      {data !== null && data.items.length === 0 && <p className="small dim pad">None.</p>}
      {data !== null && data.items.length > 0 && (
        <div className="scroll">
          <table className="t">
            <thead>
              <tr>
                <th className="wide">Step</th>
                <th>Trend</th>
                <th className="r">Cost</th>
                <th className="r">Of its jobs</th>
              </tr>
            </thead>
            <tbody>
              {data.items.map(({ workflow: of, step, trend, cost_ms, flaky, jobs, last_run }) => (
                <tr key={`${of} ${step}`}>
                  <td className="wide cut">
                    <a className="mono-s" href={addressOf(["runs", last_run, step])}>
                      {step}
                    </a>{" "}
                    <span className="dim small">{of}</span>
                  </td>
                  <td className="small dim">{trend}</td>
                  <td className="r small">{durationText(cost_ms)}</td>
                  <td className="r" title={`${flaky} of ${jobs} jobs`}>
                    {percentText(flaky, jobs)}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
