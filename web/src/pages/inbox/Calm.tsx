import type { ReactNode } from "react";
import { api, dataOf } from "../../api/client.js";
import { useLive } from "../../api/use-live.js";
import { Doll } from "../../parts/Doll.js";
import { Icon } from "../../parts/Icon.js";
import { StartRun } from "../../parts/StartLink.js";
import { addressOf } from "../../place.js";
import { count } from "../../words/status.js";

const SAMPLE = `on_fail:
  retry: { max: 2, backoff: { mode: exponential, delay_ms: 1000 } }   # again, after a pause
  run: [lint-fix]                                                     # a repair, then once more
  goto: setup                                                         # back, and forward from there`;
const MOST = 1_000;

/** Shown when there is nothing to do: what would appear here, why it is empty, and how to try it. */
export function Calm({ mayAct }: { readonly mayAct: boolean }): ReactNode {
  const query = { since: "24h", limit: MOST };
  const { data } = useLive(
    "calm",
    () => dataOf(api.GET("/api/v1/runs", { params: { query } })),
    () => true,
  );
  const rescued = rescuedOf(data?.items ?? []);
  /** The number must match the list behind the button. */
  const known = rescued > 0 && data?.next === null;
  const tryIt = `echo '{name: hold, unhandled: hold, steps: {try: {exec: "false"}}}' | daruma run - --server ${location.origin}`;
  return (
    <div className="calm">
      <div className="row calm-head">
        <Doll face="completed" size="xl" />
        <div>
          <h2>Nothing needs you</h2>
          <p className="dim">{data === null ? "" : today(data.items, data.next !== null)}</p>
          <p className="dim">Failures that Daruma could not handle appear here.</p>
          <div className="row wrap">
            <a className="btn" href={addressOf(["runs"], { show: "rescued", since: known ? "24h" : null })}>
              {known ? `See the ${count(rescued, "rescued run")}` : "See rescued runs"}
            </a>
            {mayAct && <StartRun />}
          </div>
        </div>
      </div>
      <div className="panel">
        <header>
          <h2>What appears here</h2>
        </header>
        <dl className="lands">
          <dt>
            <Doll face="held" /> Hold
          </dt>
          <dd>
            A failure that no rung handles, in a file with <code className="mono-s">unhandled: hold</code>.
            The run waits, nothing is lost.
          </dd>
          <dt>
            <Icon name="takeover" /> Question
          </dt>
          <dd>
            A step of <code className="mono-s">type: human</code> asks, and somebody has to choose.
          </dd>
          <dt>
            <Icon name="clock" /> Dead letter
          </dt>
          <dd>
            All rounds of the <code className="mono-s">queue</code> are used. Repair the cause, then redrive
            it.
          </dd>
          <dt>
            <Doll face="failed" /> Failed
          </dt>
          <dd>A run ended with a failure that nothing handled.</dd>
        </dl>
      </div>
      <div className="panel">
        <header>
          <h2>Let Daruma handle more of them</h2>
          <span className="dim small">add this to a step, rung by rung</span>
        </header>
        <pre className="sample">{SAMPLE}</pre>
      </div>
      <p className="small dim">
        To see one: <code className="mono-s">{tryIt}</code>
      </p>
    </div>
  );
}

type Ended = { readonly status: string; readonly recoveries: number };

function rescuedOf(runs: readonly Ended[]): number {
  return runs.filter(({ status, recoveries }) => status === "completed" && recoveries > 0).length;
}

function today(runs: readonly Ended[], isMore: boolean): string {
  if (runs.length === 0) return "No runs in the last 24 hours.";
  const completed = runs.filter(({ status }) => status === "completed");
  const rescued = rescuedOf(runs);
  const running = runs.filter(({ status }) => status === "running").length;
  const all = `${isMore ? "More than " : ""}${count(runs.length, "run")} in the last 24 hours. `;
  const after = rescued === 0 ? "" : `, ${rescued} of them after a failure`;
  return `${all}${completed.length} completed${after}; ${running} ${running === 1 ? "is" : "are"} running.`;
}
