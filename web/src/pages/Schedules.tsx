import type { ReactNode } from "react";
import { api, dataOf } from "../api/client.js";
import { type Act, useAct } from "../api/use-act.js";
import { useEvery } from "../api/use-every.js";
import { useLive } from "../api/use-live.js";
import { Listing } from "../parts/Listing.js";
import { Empty, Refused, Skeleton } from "../parts/Notice.js";
import { PageTabs } from "../parts/PageHead.js";
import { addressOf } from "../place.js";
import { nextWords, ruleWords, type ScheduleItem, scheduleNotes } from "../words/schedules.js";
import { exactTime } from "../words/times.js";
import { AskButton } from "./workers/AskButton.js";
import "../styles/stats.css";
import "../styles/clocks.css";

/** A tick makes no event until it has started a run, so this page reloads at an interval. */
const READ_EVERY_MS = 10_000;

async function readSchedules() {
  return { ...(await dataOf(api.GET("/api/v1/schedules"))), at: Date.now() };
}

/** Lists schedules: the next time, the last result, and who has paused them. */
export function Schedules({ mayAct }: { readonly mayAct: boolean }): ReactNode {
  const { data, problem, reload } = useLive("schedules", readSchedules, () => true);
  const { act, refused } = useAct(reload);
  useEvery(READ_EVERY_MS, reload);
  return (
    <div className="page listing">
      <PageTabs of="workflows" current="schedules" />
      {problem !== null && <Refused problem={problem} />}
      {refused !== null && <Refused problem={refused} />}
      {data === null && problem === null && <Skeleton />}
      {data !== null && data.items.length > 0 && data.owner === null && (
        <div className="banner warn" role="status">
          <span>
            <b>No server starts them now.</b> A server takes this over within a minute.
          </span>
        </div>
      )}
      {data !== null &&
        (data.items.length === 0 ? (
          <NoSchedules />
        ) : (
          <Table items={data.items} now={data.at} mayAct={mayAct} act={act} />
        ))}
    </div>
  );
}

function NoSchedules(): ReactNode {
  return (
    <Empty title="No schedules yet">
      A published workflow with <code className="mono-s">schedule:</code> starts by itself, for example{" "}
      <code className="mono-s">{'schedule: { cron: "0 3 * * *", timezone: Europe/Berlin }'}</code>
    </Empty>
  );
}

interface TableProps {
  readonly items: readonly ScheduleItem[];
  readonly now: number;
  readonly mayAct: boolean;
  readonly act: Act;
}

function Table({ items, now, mayAct, act }: TableProps): ReactNode {
  return (
    <section className="panel" aria-label="Schedules">
      <Listing
        isAiry
        items={items}
        keyOf={({ workflow, id }) => `${workflow} ${id}`}
        columns={[
          {
            name: "Schedule",
            cell: ({ workflow, id }) => (
              <>
                <a className="link mono" href={addressOf(["workflows", workflow])}>
                  {workflow}
                </a>
                <div className="small dim mono">{id}</div>
              </>
            ),
          },
          {
            name: "When",
            cell: (item) => (
              <div>
                <span className="mono">{item.cron}</span>
                <div className="small dim">{ruleWords(item)}</div>
              </div>
            ),
          },
          {
            name: "Next run",
            cell: (item) =>
              item.paused === null ? nextWords(item, now) : <span className="chip line">paused</span>,
          },
          { name: "Last run", cell: ({ last }) => <LastRun last={last} /> },
          { name: "Notes", look: "wide wrap-text small", cell: (item) => <Notes item={item} /> },
          mayAct
            ? {
                name: "Actions",
                look: "r",
                isPlain: true,
                cell: (item) => <Buttons item={item} act={act} />,
              }
            : null,
        ]}
      />
    </section>
  );
}

function LastRun({ last }: Pick<ScheduleItem, "last">): ReactNode {
  if (last === null) return <span className="dim">none yet</span>;
  return (
    <div>
      <a className="link num" href={addressOf(["runs", last.run_id])}>
        #{last.run_id}
      </a>
      <div className="small dim">{exactTime(last.tick)}</div>
    </div>
  );
}

function Notes({ item }: { readonly item: ScheduleItem }): ReactNode {
  const notes = scheduleNotes(item);
  if (notes.length === 0) return null;
  return (
    <div>
      {notes.map(({ tone, text }) => (
        <div key={text} className={tone}>
          {text}
        </div>
      ))}
    </div>
  );
}

function Buttons({ item, act }: { readonly item: ScheduleItem; readonly act: Act }): ReactNode {
  const { workflow, id, paused } = item;
  const path = { workflow, id };
  const control = (action: "pause" | "resume", reason: string): void =>
    void act(
      dataOf(
        api.POST("/api/v1/schedules/{workflow}/{id}/control", {
          params: { path },
          body: { action, ...(reason === "" ? {} : { reason }) },
        }),
      ),
    );
  const start = async (): Promise<void> => {
    const key = crypto.randomUUID();
    const { run_id } = await dataOf(
      api.POST("/api/v1/schedules/{workflow}/{id}/run", { params: { path }, body: { key } }),
    );
    location.hash = addressOf(["runs", run_id]);
  };
  return (
    <span className="row g2">
      <AskButton
        short="Run now"
        words={`Run now: ${workflow}/${id}`}
        effect="A run starts with the inputs of the schedule, also if another one of it is not over."
        onSend={() => void act(start())}
      />
      {paused === null ? (
        <AskButton
          short="Pause"
          words={`Pause ${workflow}/${id}`}
          effect="It starts no runs until resumed. Missed times are not made up."
          asksReason
          onSend={(reason) => control("pause", reason)}
        />
      ) : (
        <button type="button" className="btn" onClick={() => control("resume", "")}>
          Resume
          <span className="sr">
            {" "}
            {workflow}/{id}
          </span>
        </button>
      )}
    </span>
  );
}
