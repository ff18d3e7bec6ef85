import { type ReactNode, useState } from "react";
import { api, dataOf } from "../api/client.js";
import { type Act, useAct } from "../api/use-act.js";
import { useEvery } from "../api/use-every.js";
import { useLive } from "../api/use-live.js";
import { Listing } from "../parts/Listing.js";
import { Empty, Refused, Skeleton } from "../parts/Notice.js";
import { PageTabs } from "../parts/PageHead.js";
import { addressOf, type Place } from "../place.js";
import {
  deliveryState,
  kindWords,
  type NotificationItem,
  type ServerSettings,
  toldWords,
} from "../words/notifications.js";
import "../styles/clocks.css";
import "../styles/stats.css";
import { exactTime } from "../words/times.js";

/** Tries to deliver are no events of a run, so this page reloads at an interval. */
const READ_EVERY_MS = 10_000;
const PAGE = 100;

const STATES = { all: "All", undelivered: "Undelivered", due: "Being sent" } as const;
type Shown = keyof typeof STATES;

async function readAll(shown: Shown, after: string | null) {
  const query = {
    limit: PAGE,
    ...(shown === "all" ? {} : { state: shown === "due" ? "new,due" : shown }),
    ...(after === null ? {} : { after }),
  };
  const [settings, sent] = await Promise.all([
    dataOf(api.GET("/api/v1/settings")),
    dataOf(api.GET("/api/v1/notifications", { params: { query: query as never } })),
  ]);
  return { settings, sent, at: Date.now() };
}

/** Shows who gets which messages through which channel, and what became of each message. */
export function Notifications({
  place,
  mayAct,
}: {
  readonly place: Place;
  readonly mayAct: boolean;
}): ReactNode {
  const asked = place.query.get("state") ?? "all";
  const shown: Shown = asked === "undelivered" || asked === "due" ? asked : "all";
  const after = place.query.get("after");
  const { data, problem, reload } = useLive(
    `notifications ${shown} ${after}`,
    () => readAll(shown, after),
    () => true,
  );
  const { act, refused } = useAct(reload);
  useEvery(READ_EVERY_MS, reload);
  return (
    <div className="page listing">
      <PageTabs of="workers" current="notifications" />
      {data === null && problem === null && <Skeleton />}
      {problem !== null && <Refused problem={problem} />}
      {refused !== null && <Refused problem={refused} />}
      {data !== null && <Channels settings={data.settings} mayAct={mayAct} act={act} />}
      {data !== null && (
        <section className="panel" aria-label="Messages">
          <header>
            <h2>Messages</h2>
            <span className="small dim">newest first, kept for 30 days</span>
            <nav className="seg end" aria-label="Which messages">
              {Object.entries(STATES).map(([state, words]) => (
                <a
                  key={state}
                  href={addressOf(["notifications"], { state: state === "all" ? null : state })}
                  aria-current={state === shown ? "true" : undefined}
                >
                  {words}
                </a>
              ))}
            </nav>
          </header>
          {data.sent.items.length === 0 ? (
            <p className="pad dim">No messages.</p>
          ) : (
            <Deliveries items={data.sent.items} now={data.at} />
          )}
          {data.sent.next !== null && (
            <a
              className="btn more"
              href={addressOf(["notifications"], {
                state: shown === "all" ? null : shown,
                after: data.sent.next,
              })}
            >
              Older messages
            </a>
          )}
        </section>
      )}
    </div>
  );
}

interface ChannelsProps {
  readonly settings: ServerSettings;
  readonly mayAct: boolean;
  readonly act: Act;
}

function Channels({ settings: { channels, notify }, mayAct, act }: ChannelsProps): ReactNode {
  const [arrived, setArrived] = useState<string | null>(null);
  const test = async (channel: string): Promise<void> => {
    setArrived(null);
    await dataOf(api.POST("/api/v1/notifications/test", { body: { channel } }));
    setArrived(channel);
  };
  if (channels.length === 0)
    return (
      <Empty title="No channels yet">
        Channels are in the settings of the server: Slack, email, a webhook or a command.{" "}
        <code className="mono-s">{"channels: { ops: { type: slack, secret: SLACK_WEBHOOK_URL } }"}</code>
      </Empty>
    );
  return (
    <section className="panel" aria-label="Channels">
      <header>
        <h2>Channels</h2>
        <span className="small dim">from the settings of the server</span>
      </header>
      {arrived !== null && (
        <p className="pad ok" role="status">
          The test message has arrived at {arrived}.
        </p>
      )}
      <Listing
        isAiry
        items={channels}
        keyOf={({ name }) => name}
        columns={[
          { name: "Channel", look: "mono-s strong", cell: ({ name }) => name },
          {
            name: "Goes to",
            cell: ({ type, target }) => (
              <span>
                <span className="chip line">{type}</span> {target}
              </span>
            ),
          },
          {
            name: "Sends",
            look: "wide wrap-text small",
            cell: ({ name }) => <div>{rulesFor(name, notify)}</div>,
          },
          mayAct
            ? {
                name: "Actions",
                look: "r",
                isPlain: true,
                cell: ({ name }) => (
                  <button type="button" className="btn" onClick={() => void act(test(name))}>
                    Send a test<span className="sr"> to {name}</span>
                  </button>
                ),
              }
            : null,
        ]}
      />
    </section>
  );
}

function rulesFor(channel: string, rules: ServerSettings["notify"]): ReactNode {
  const own = rules.filter(({ to }) => to.includes(channel));
  if (own.length === 0) return <span className="dim">nothing; workflows may name it in their own rules</span>;
  return own.map(({ on, when }) => (
    <div key={`${on.join()} ${when}`}>
      {on.map(kindWords).join(", ")}
      {when !== null && (
        <>
          {" "}
          when <code className="mono-s">{when}</code>
        </>
      )}
    </div>
  ));
}

interface DeliveriesProps {
  readonly items: readonly NotificationItem[];
  readonly now: number;
}

/** Lists messages with their recipients, whether they arrived, and the last error if not. */
function Deliveries({ items, now }: DeliveriesProps): ReactNode {
  return (
    <Listing
      isAiry
      items={items}
      keyOf={({ id }) => id}
      columns={[
        { name: "When", look: "num small", cell: ({ at }) => exactTime(at) },
        {
          name: "About",
          look: "wide wrap-text about",
          cell: (item) => <About item={item} />,
        },
        { name: "Channel", look: "mono-s", cell: ({ channel }) => channel },
        {
          name: "State",
          cell: (item) => {
            const { words, tone } = deliveryState(item, now);
            return <span className={`chip ${tone}`}>{words}</span>;
          },
        },
        { name: "Notes", look: "wrap-text small", cell: (item) => deliveryState(item, now).more },
      ]}
    />
  );
}

function About({ item }: { readonly item: NotificationItem }): ReactNode {
  const { kind, subject, run_id, step } = item;
  const told = toldWords(item);
  return (
    <div>
      {run_id === null ? (
        subject
      ) : (
        <a className="link" href={addressOf(step === null ? ["runs", run_id] : ["runs", run_id, step])}>
          {subject}
        </a>
      )}
      <div className="small dim">
        {kindWords(kind)}
        {told === "" ? "" : `, ${told}`}
      </div>
    </div>
  );
}
