import type { ReactNode } from "react";
import { api, dataOf } from "../../api/client.js";
import type { Act } from "../../api/use-act.js";
import { Listing } from "../../parts/Listing.js";
import { type BreakerItem, breakerState, type CampaignItem } from "../../words/workers.js";
import { AskButton } from "./AskButton.js";

interface Acting {
  readonly mayAct: boolean;
  readonly act: Act;
}

const EFFECTS = {
  open: "No step that uses it starts until somebody closes it. What is running goes on.",
  close: "The steps that wait for it start, some each second.",
};

/** Breakers, which keep steps of all runs from starting while something outside is down. */
export function BreakerTable({
  breakers,
  mayAct,
  act,
}: Acting & { readonly breakers: readonly BreakerItem[] }): ReactNode {
  const control = (name: string, action: "open" | "close", reason: string): void =>
    void act(
      dataOf(api.POST("/api/v1/breakers/{name}", { params: { path: { name } }, body: { action, reason } })),
    );
  return (
    <section className="panel" aria-label="Breakers">
      <header>
        <h2>Breakers</h2>
        <span className="small dim">shared by runs: while one is open, the steps that use it wait</span>
      </header>
      <Listing
        isAiry
        items={breakers}
        keyOf={({ name }) => name}
        columns={[
          { name: "Breaker", look: "mono-s strong", isPlain: true, cell: ({ name }) => name },
          {
            name: "State",
            isPlain: true,
            cell: (breaker) => {
              const { words, tone } = breakerState(breaker);
              return <span className={`chip ${tone}`}>{words}</span>;
            },
          },
          {
            name: "Why",
            look: "wide wrap-text small",
            isPlain: true,
            cell: (breaker) => breakerState(breaker).more,
          },
          mayAct
            ? {
                name: "Actions",
                look: "r",
                isPlain: true,
                cell: ({ name, state }) => {
                  const action = state === "closed" ? "open" : "close";
                  const verb = action === "open" ? "Open" : "Close";
                  return (
                    <AskButton
                      short={verb}
                      words={`${verb} ${name}`}
                      effect={EFFECTS[action]}
                      asksReason
                      onSend={(reason) => control(name, action, reason)}
                    />
                  );
                },
              }
            : null,
        ]}
      />
    </section>
  );
}

const CONTROLS: {
  readonly [state in CampaignItem["state"]]: readonly ("pause" | "resume" | "stop")[];
} = { running: ["pause", "stop"], paused: ["resume", "stop"], stopped: [], done: [] };

/** Campaigns: retries of many runs, wave by wave. */
export function CampaignTable({
  campaigns,
  mayAct,
  act,
}: Acting & { readonly campaigns: readonly CampaignItem[] }): ReactNode {
  const control = (campaign: number, action: "pause" | "resume" | "stop"): void =>
    void act(
      dataOf(
        api.POST("/api/v1/campaigns/{campaign}/control", {
          params: { path: { campaign } },
          body: { action },
        }),
      ),
    );
  return (
    <section className="panel" aria-label="Campaigns">
      <header>
        <h2>Campaigns</h2>
        <span className="small dim">one decision for many jobs, a few first</span>
      </header>
      <Listing
        isAiry
        items={campaigns}
        keyOf={({ campaign }) => campaign}
        columns={[
          { name: "Campaign", look: "num", isPlain: true, cell: ({ campaign }) => `#${campaign}` },
          {
            name: "State",
            isPlain: true,
            cell: ({ state }) => (
              <span className={state === "running" ? "chip live" : "chip line"}>{state}</span>
            ),
          },
          { name: "Progress", isPlain: true, cell: (campaign) => <Progress campaign={campaign} /> },
          {
            name: "What and why",
            look: "wide wrap-text small",
            isPlain: true,
            cell: ({ action, by, reason, why }) => (
              <>
                {action} by {by}: {reason}
                {why !== null && <div className="tiny dim">{why}</div>}
              </>
            ),
          },
          mayAct
            ? {
                name: "Actions",
                look: "r",
                isPlain: true,
                cell: (campaign) => <CampaignButtons campaign={campaign} control={control} />,
              }
            : null,
        ]}
      />
    </section>
  );
}

interface CampaignButtonsProps {
  readonly campaign: CampaignItem;
  readonly control: (campaign: number, action: "pause" | "resume" | "stop") => void;
}

function CampaignButtons({ campaign: { campaign, state }, control }: CampaignButtonsProps): ReactNode {
  return (
    <span className="row g2 end">
      {CONTROLS[state].map((action) =>
        action === "stop" ? (
          <AskButton
            key={action}
            short="Stop"
            words={`Stop campaign ${campaign}`}
            effect="No further job is decided. It cannot be resumed."
            isDanger
            onSend={() => control(campaign, action)}
          />
        ) : (
          <button key={action} type="button" className="btn" onClick={() => control(campaign, action)}>
            {action === "pause" ? "Pause" : "Resume"}
            <span className="sr"> campaign {campaign}</span>
          </button>
        ),
      )}
    </span>
  );
}

function Progress({ campaign: { counts, total } }: { readonly campaign: CampaignItem }): ReactNode {
  const share = (jobs: number): string => `${(100 * jobs) / Math.max(1, total)}%`;
  return (
    <span className="row g3">
      <span className="bar progress" aria-hidden="true">
        <i className="k-at_once" style={{ width: share(counts.good) }} />
        <i className="k-lost" style={{ width: share(counts.bad + counts.refused) }} />
        <i className="k-sent" style={{ width: share(counts.sent) }} />
      </span>
      <span className="small dim num">
        {counts.good} good, {counts.bad} bad of {total}
      </span>
    </span>
  );
}
