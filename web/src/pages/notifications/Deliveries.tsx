import type { ReactNode } from "react";
import { addressOf } from "../../place.js";
import { deliveryState, kindWords, type NotificationItem, toldWords } from "../../words/notifications.js";
import { exactTime } from "../../words/times.js";

interface DeliveriesProps {
  readonly items: readonly NotificationItem[];
  readonly now: number;
}

/** What was said to whom, whether it arrived, and the last error if it did not. */
export function Deliveries({ items, now }: DeliveriesProps): ReactNode {
  return (
    <div className="scroll">
      <table className="t airy">
        <thead>
          <tr>
            <th>When</th>
            <th className="wide">About</th>
            <th>Channel</th>
            <th>State</th>
            <th>Notes</th>
          </tr>
        </thead>
        <tbody>
          {items.map((item) => (
            <Row key={item.id} item={item} now={now} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ item, now }: { readonly item: NotificationItem; readonly now: number }): ReactNode {
  const { at, kind, subject, run_id, step, channel } = item;
  const { words, tone, more } = deliveryState(item, now);
  const told = toldWords(item);
  return (
    <tr>
      <td className="num small">{exactTime(at)}</td>
      <td className="wide wrap-text about">
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
      </td>
      <td className="mono-s">{channel}</td>
      <td>
        <span className={`chip ${tone}`}>{words}</span>
      </td>
      <td className="wrap-text small">{more}</td>
    </tr>
  );
}
