import type { ReactNode } from "react";
import { aboutSize } from "../../../../src/core/text/amount-text.js";
import { api, dataOf } from "../../api/client.js";
import type { Act } from "../../api/use-act.js";
import { Listing } from "../../parts/Listing.js";
import { addressOf } from "../../place.js";
import { count } from "../../words/status.js";
import { exactTime, since } from "../../words/times.js";
import {
  type Allocations,
  isOverdue,
  remedyText,
  type WaitingItem,
  type WorkerItem,
  workerState,
} from "../../words/workers.js";
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
      <Listing
        isAiry
        items={workers}
        keyOf={({ name }) => name}
        columns={[
          { name: "Worker", cell: (worker) => <Name worker={worker} /> },
          { name: "Health", cell: (worker) => <Health {...workerState(worker, now)} /> },
          {
            name: "Slots",
            cell: ({ connected, slots, used }) => connected && <Slots slots={slots} used={used} />,
          },
          { name: "Has", look: "small dim", cell: (worker) => worker.connected && hasText(worker) },
          { name: "Tags", cell: ({ tags }) => tags.length > 0 && <Tags tags={tags} /> },
          {
            name: "At work on",
            look: "wide wrap-text",
            cell: (worker) => <Work worker={worker} now={now} />,
          },
          {
            name: "Last heard from",
            look: "small dim",
            title: ({ last_seen_at }) => (last_seen_at === null ? "" : exactTime(last_seen_at)),
            cell: (worker) => worker.last_seen_at !== null && <Heard worker={worker} now={now} />,
          },
          mayAct
            ? {
                name: "Actions",
                look: "r",
                isPlain: true,
                cell: ({ health }) => health.state !== "healthy" && <Release name={health.name} act={act} />,
              }
            : null,
        ]}
      />
    </section>
  );
}

interface OfWorker {
  readonly worker: WorkerItem;
}

function Name({ worker: { name, node, allocation, health } }: OfWorker): ReactNode {
  const where = [node, allocation].filter(Boolean).join(", ");
  return (
    <>
      <div className="mono-s strong">{name}</div>
      <div className="tiny dim">{health.name === null ? "the server's own" : where}</div>
    </>
  );
}

function Health({ words, tone }: ReturnType<typeof workerState>): ReactNode {
  return <span className={`chip ${tone}`}>{words}</span>;
}

function Tags({ tags }: Pick<WorkerItem, "tags">): ReactNode {
  return (
    <span className="row g2 tags-of">
      {tags.map((tag) => (
        <span key={tag} className="chip line">
          {tag}
        </span>
      ))}
    </span>
  );
}

function Release({ name, act }: { readonly name: string | null; readonly act: Act }): ReactNode {
  if (name === null) return null;
  return (
    <AskButton
      short="Release"
      words={`Release ${name}`}
      effect="It gets attempts again at once."
      asksReason
      onSend={(reason) =>
        void act(
          dataOf(
            api.POST("/api/v1/workers/release/{name}", { params: { path: { name } }, body: { reason } }),
          ),
        )
      }
    />
  );
}

/** A dot for a sign of life, or a square if it is overdue. */
function Heard({ worker, now }: OfWorker & { readonly now: number }): ReactNode {
  const isSilent = worker.connected && isOverdue(worker, now);
  return (
    <span className={isSilent ? "row g3 bad" : "row g3"}>
      {worker.connected && <i className={isSilent ? "dot lost" : "dot"} />}
      {since(worker.last_seen_at!, now)}
    </span>
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

/** What a worker does, or why it gets no work. */
function Work({ worker, now }: OfWorker & { readonly now: number }): ReactNode {
  const { tone, more } = workerState(worker, now);
  if (!worker.connected && more === "") return null;
  return (
    <div>
      {worker.connected && <Attempts worker={worker} />}
      {more !== "" && <div className={tone === "bad" ? "tiny bad" : "tiny dim"}>{more}</div>}
    </div>
  );
}

function Attempts({ worker: { attempts, used } }: OfWorker): ReactNode {
  const [first] = attempts;
  // The server's own worker reports how much it does, not what.
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
