import type { ReactNode } from "react";
import { durationText } from "../../../../src/tell/words/duration-text.js";
import { api, dataOf } from "../../api/client.js";
import type { Act } from "../../api/use-act.js";
import { Button } from "../../parts/Button.js";
import { Listing } from "../../parts/Listing.js";
import { type AllocationItem, allocationState, nodesText, whyNotDrain } from "../../words/workers.js";
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
      <Listing
        isAiry
        items={items}
        keyOf={({ key }) => key}
        columns={[
          { name: "Allocation", look: "mono-s", cell: nameOf },
          {
            name: "State",
            cell: (item) => {
              const { words, tone } = allocationState(item);
              return <span className={`chip ${tone}`}>{words}</span>;
            },
          },
          {
            name: "Nodes",
            look: "small",
            cell: (item) => <span title={item.nodes.join(", ")}>{nodesText(item)}</span>,
          },
          { name: "CPUs", look: "r", cell: ({ cpus, num_nodes }) => cpus * num_nodes },
          { name: "For", look: "r small", cell: ({ runtime_ms }) => durationText(runtime_ms) },
          {
            name: "What Daruma makes of it",
            look: "wide wrap-text",
            cell: (item) => allocationState(item).more,
          },
          mayAct
            ? {
                name: "Actions",
                look: "r",
                isPlain: true,
                cell: (item) => item.state !== "ended" && <Buttons item={item} control={control} />,
              }
            : null,
        ]}
      />
    </section>
  );
}

function nameOf({ id, key, cluster }: AllocationItem): string {
  return id === null ? key : `${cluster}/${id}`;
}

interface ButtonsProps {
  readonly item: AllocationItem;
  readonly control: (action: "cancel" | "drain", target: string) => void;
}

function Buttons({ item, control }: ButtonsProps): ReactNode {
  return (
    <span className="row g2 end">
      <Button why={whyNotDrain(item)} onPress={() => control("drain", item.key)}>
        Drain<span className="sr"> {nameOf(item)}</span>
      </Button>
      <AskButton
        short="Cancel"
        words={`Cancel ${nameOf(item)}`}
        effect="What it runs is restarted elsewhere, at no cost to its retries."
        isDanger
        onSend={() => control("cancel", item.key)}
      />
    </span>
  );
}
