import type { ReactNode } from "react";
import { aboutSize } from "../../../../src/core/text/amount-text.js";
import { api, dataOf } from "../../api/client.js";
import type { Act } from "../../api/use-act.js";
import { addressOf } from "../../place.js";
import { count } from "../../words/status.js";
import { since } from "../../words/times.js";
import { type WorkerItem, workerState } from "../../words/workers.js";
import { AskButton } from "./AskButton.js";

interface WorkersTableProps {
  readonly workers: readonly WorkerItem[];
  readonly now: number;
  readonly mayAct: boolean;
  readonly act: Act;
}

export function WorkersTable({ workers, now, mayAct, act }: WorkersTableProps): ReactNode {
  return (
    <section className="panel" aria-label="Workers">
      <div className="scroll">
        <table className="t airy">
          <thead>
            <tr>
              <th>Worker</th>
              <th>Health</th>
              <th>Slots</th>
              <th>Has</th>
              <th>Tags</th>
              <th className="wide">At work on</th>
              <th>Last heard from</th>
              {mayAct && (
                <th>
                  <span className="sr">Actions</span>
                </th>
              )}
            </tr>
          </thead>
          <tbody>
            {workers.map((worker) => (
              <Row key={worker.name} worker={worker} now={now} mayAct={mayAct} act={act} />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

type RowProps = Omit<WorkersTableProps, "workers"> & { readonly worker: WorkerItem };

function Row({ worker, now, mayAct, act }: RowProps): ReactNode {
  const { words, tone, more } = workerState(worker, now);
  const { name: answersTo, state } = worker.health;
  const where = [worker.node, worker.allocation].filter(Boolean).join(", ");
  return (
    <tr>
      <td>
        <div className="mono-s strong">{worker.name}</div>
        <div className="tiny dim">{answersTo === null ? "the server's own" : where}</div>
      </td>
      <td>
        <span className={`chip ${tone}`}>{words}</span>
      </td>
      <td>{worker.connected && <Slots slots={worker.slots} used={worker.used} />}</td>
      <td className="small dim">{worker.connected ? hasText(worker) : ""}</td>
      <td>
        <span className="row g2">
          {worker.tags.map((tag) => (
            <span key={tag} className="chip line">
              {tag}
            </span>
          ))}
        </span>
      </td>
      <td className="wide">
        {worker.connected && <Work worker={worker} />}
        {more !== "" && (
          <div className={tone === "bad" ? "tiny bad wrap-text" : "tiny dim wrap-text"}>{more}</div>
        )}
      </td>
      <td className="small dim">{worker.last_seen_at === null ? "" : since(worker.last_seen_at, now)}</td>
      {mayAct && (
        <td className="r">
          {answersTo !== null && state !== "healthy" && (
            <AskButton
              short="Release"
              words={`Release ${answersTo}`}
              effect="It gets attempts again at once."
              asksReason
              onSend={(reason) =>
                void act(
                  dataOf(
                    api.POST("/api/v1/workers/release/{name}", {
                      params: { path: { name: answersTo } },
                      body: { reason },
                    }),
                  ),
                )
              }
            />
          )}
        </td>
      )}
    </tr>
  );
}

const MAX_CELLS = 16;

function Slots({ slots, used }: { readonly slots: number; readonly used: number }): ReactNode {
  return (
    <span className="row g3">
      {slots <= MAX_CELLS && (
        <span className="slots" aria-hidden="true">
          {Array.from({ length: slots }, (_, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a slot is its place
            <i key={index} className={index < used ? "used" : ""} />
          ))}
        </span>
      )}
      <span className="small dim num">
        {used} of {slots}
      </span>
    </span>
  );
}

function hasText({ cpus, memory_bytes, gpus, nodes }: WorkerItem): string {
  return [
    `${cpus} CPU`,
    ...(memory_bytes === null ? [] : [aboutSize(memory_bytes)]),
    ...(gpus > 0 ? [`${gpus} GPU`] : []),
    ...(nodes > 1 ? [count(nodes, "node")] : []),
  ].join(", ");
}

function Work({ worker: { attempts, used } }: { readonly worker: WorkerItem }): ReactNode {
  const [first] = attempts;
  // The server's own worker says how much it does, not what.
  if (first === undefined && used > 0)
    return (
      <a className="link small" href={addressOf(["runs"], { show: "active" })}>
        active runs
      </a>
    );
  if (first === undefined) return <span className="dim small">nothing</span>;
  return (
    <span className="small">
      <a className="link" href={addressOf(["runs", first.run_id])}>
        run {first.run_id}
      </a>
      {attempts.length > 1 && ` and ${count(attempts.length - 1, "other attempt")}`}
    </span>
  );
}
