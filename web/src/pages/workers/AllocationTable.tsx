import type { ReactNode } from "react";
import { durationText } from "../../../../src/report/words/duration-text.js";
import { api, dataOf } from "../../api/client.js";
import type { Act } from "../../api/use-act.js";
import { type AllocationItem, allocationState } from "../../words/workers.js";
import { AskButton } from "./AskButton.js";

interface AllocationTableProps {
  readonly items: readonly AllocationItem[];
  readonly mayAct: boolean;
  readonly act: Act;
}

export function AllocationTable({ items, mayAct, act }: AllocationTableProps): ReactNode {
  const control = (action: "cancel" | "drain", target: string): void =>
    void act(dataOf(api.POST("/api/v1/allocations/control", { body: { action, target } })));
  return (
    <section className="panel" aria-label="Allocations">
      <header>
        <h2>Allocations</h2>
        <span className="small dim">on batch systems, newest first</span>
      </header>
      <div className="scroll">
        <table className="t airy">
          <thead>
            <tr>
              <th>Allocation</th>
              <th>State</th>
              <th>Nodes</th>
              <th className="r">CPUs</th>
              <th className="r">For</th>
              <th className="wide">What Daruma makes of it</th>
              {mayAct && (
                <th>
                  <span className="sr">Actions</span>
                </th>
              )}
            </tr>
          </thead>
          <tbody>
            {items.map((item) => {
              const { words, tone, more } = allocationState(item);
              const name = item.id === null ? item.key : `${item.cluster}/${item.id}`;
              return (
                <tr key={item.key}>
                  <td className="mono-s">{name}</td>
                  <td>
                    <span className={`chip ${tone}`}>{words}</span>
                  </td>
                  <td className="small">
                    {item.nodes.length === 0 ? item.num_nodes : item.nodes.join(", ")}
                  </td>
                  <td className="r">{item.cpus * item.num_nodes}</td>
                  <td className="r small">{durationText(item.runtime_ms)}</td>
                  <td className="wide wrap-text">{more}</td>
                  {mayAct && (
                    <td className="r">
                      {item.state !== "ended" && (
                        <span className="row g2 end">
                          <button type="button" className="btn" onClick={() => control("drain", item.key)}>
                            Drain<span className="sr"> {name}</span>
                          </button>
                          <AskButton
                            short="Cancel"
                            words={`Cancel ${name}`}
                            effect="What it runs is restarted elsewhere, at no cost to its retries."
                            isDanger
                            onSend={() => control("cancel", item.key)}
                          />
                        </span>
                      )}
                    </td>
                  )}
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </section>
  );
}
