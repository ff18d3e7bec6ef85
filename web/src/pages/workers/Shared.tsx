import type { ReactNode } from "react";
import { api, dataOf } from "../../api/client.js";
import type { Act } from "../../api/use-act.js";
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

/** What keeps steps of all runs from starting while something outside is down. */
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
      <div className="scroll">
        <table className="t airy">
          <tbody>
            {breakers.map((breaker) => {
              const { words, tone, more } = breakerState(breaker);
              const action = breaker.state === "closed" ? "open" : "close";
              const verb = action === "open" ? "Open" : "Close";
              return (
                <tr key={breaker.name}>
                  <td className="mono-s strong">{breaker.name}</td>
                  <td>
                    <span className={`chip ${tone}`}>{words}</span>
                  </td>
                  <td className="wide wrap-text small">{more}</td>
                  {mayAct && (
                    <td className="r">
                      <AskButton
                        short={verb}
                        words={`${verb} ${breaker.name}`}
                        effect={EFFECTS[action]}
                        asksReason
                        onSend={(reason) => control(breaker.name, action, reason)}
                      />
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

const CONTROLS: {
  readonly [state in CampaignItem["state"]]: readonly ("pause" | "resume" | "stop")[];
} = { running: ["pause", "stop"], paused: ["resume", "stop"], stopped: [], done: [] };

/** Retries of many runs, wave by wave. */
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
      <div className="scroll">
        <table className="t airy">
          <tbody>
            {campaigns.map((campaign) => (
              <tr key={campaign.campaign}>
                <td className="num">#{campaign.campaign}</td>
                <td>
                  <span className={campaign.state === "running" ? "chip live" : "chip line"}>
                    {campaign.state}
                  </span>
                </td>
                <td>
                  <Progress campaign={campaign} />
                </td>
                <td className="wide wrap-text small">
                  {campaign.action} by {campaign.by}: {campaign.reason}
                  {campaign.why !== null && <div className="tiny dim">{campaign.why}</div>}
                </td>
                {mayAct && (
                  <td className="r">
                    <span className="row g2 end">
                      {CONTROLS[campaign.state].map((action) =>
                        action === "stop" ? (
                          <AskButton
                            key={action}
                            short="Stop"
                            words={`Stop campaign ${campaign.campaign}`}
                            effect="No further job is decided. It cannot be resumed."
                            isDanger
                            onSend={() => control(campaign.campaign, action)}
                          />
                        ) : (
                          <button
                            key={action}
                            type="button"
                            className="btn"
                            onClick={() => control(campaign.campaign, action)}
                          >
                            {action === "pause" ? "Pause" : "Resume"}
                            <span className="sr"> campaign {campaign.campaign}</span>
                          </button>
                        ),
                      )}
                    </span>
                  </td>
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
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
