import type { ReactNode } from "react";
import { api, dataOf } from "../../api/client.js";
import type { Act } from "../../api/use-act.js";
import { addressOf } from "../../place.js";
import { count } from "../../words/status.js";
import { type Allocations, remedyText, type WaitingItem } from "../../words/workers.js";

interface WaitingProps {
  readonly waiting: readonly WaitingItem[];
  readonly allocations: Allocations;
  readonly mayAct: boolean;
  readonly act: Act;
}

/** Jobs that wait for a worker, with the reason and what is done about it. */
export function Waiting({ waiting, allocations, mayAct, act }: WaitingProps): ReactNode {
  const { suspended, impossible } = allocations;
  const isCalm = waiting.length === 0 && suspended.length === 0 && impossible.length === 0;
  const resume = (cluster: string): void =>
    void act(
      dataOf(api.POST("/api/v1/allocations/control", { body: { action: "resume", target: cluster } })),
    );
  return (
    <section className="panel waiting" aria-label="What waits for a worker">
      {isCalm && <p className="dim">Nothing waits for a worker.</p>}
      {waiting.map((item) => (
        <p key={item.reason}>
          <b>
            {count(item.jobs, "job")} {item.jobs === 1 ? "is" : "are"} ready and{" "}
            {item.jobs === 1 ? "has" : "have"} no worker
          </b>
          : {item.reason}.{" "}
          <span className="dim">
            {remedyText(item, allocations)} {item.jobs === 1 ? "It is" : "One is"}{" "}
            <a className="link mono-s" href={addressOf(["runs", item.run_id, item.step])}>
              {item.step}
            </a>{" "}
            of run {item.run_id} ({item.workflow}).
          </span>
        </p>
      ))}
      {impossible.map(({ cluster, reason, jobs }) => (
        <p key={`${cluster} ${reason}`}>
          <b>
            {cluster} can never take {count(jobs, "job")}
          </b>
          : {reason}.
        </p>
      ))}
      {suspended.map(({ cluster, message }) => (
        <div key={cluster} className="row">
          <p>
            <b>{cluster} is suspended</b>: {message}
          </p>
          {mayAct && (
            <button type="button" className="btn end" onClick={() => resume(cluster)}>
              Resume {cluster}
            </button>
          )}
        </div>
      ))}
    </section>
  );
}
