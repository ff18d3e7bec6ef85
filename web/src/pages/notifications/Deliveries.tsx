import type { ReactNode } from "react";
import { Listing } from "../../parts/Listing.js";
import { addressOf } from "../../place.js";
import { deliveryState, kindWords, type NotificationItem, toldWords } from "../../words/notifications.js";
import { exactTime } from "../../words/times.js";

interface DeliveriesProps {
  readonly items: readonly NotificationItem[];
  readonly now: number;
}

/** Lists messages with their recipients, whether they arrived, and the last error if not. */
export function Deliveries({ items, now }: DeliveriesProps): ReactNode {
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
