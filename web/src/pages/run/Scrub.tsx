import { type CSSProperties, type ReactNode, useMemo, useRef } from "react";
import { durationText } from "../../../../src/tell/words/duration-text.js";
import { useKeys } from "../../keys/use-keys.js";
import { Cut } from "../../parts/Cut.js";
import { Icon } from "../../parts/Icon.js";
import { useWidth } from "../../parts/use-size.js";
import type { Recovery } from "../../words/recoveries.js";
import { badgePlaces, msOf, recoveryBeside, seqAt, spanOf, stepBy } from "./moments.js";
import type { TimelineData } from "./run-data.js";

interface ScrubProps {
  readonly log: TimelineData;
  readonly recoveries: readonly Recovery[];
  /** The recovery that is selected on the whole page. */
  readonly chosen: number | null;
  readonly choose: (recovery: Recovery) => void;
  readonly at: number | null;
  /** The type and time of the event, from the server; null until it is read. */
  readonly event: { readonly time: string; readonly type: string } | null;
  readonly go: (at: number | null) => void;
}

/** Resolution of the slider, fine enough to reach every event by hand. The keys go event by event. */
const TICKS = 1_000;
/** Distance at which two badges do not overlap. */
const BADGE_PX = 19;

/** A slider along the time of the log. Moving it shows the run as it was. */
export function Scrub({ log, recoveries, chosen, choose, at, event, go }: ScrubProps): ReactNode {
  const total = spanOf(log);
  const ms =
    at === null ? total : event === null ? msOf(log, at) : Date.parse(event.time) - Date.parse(log.first_at);
  const place = Math.min(100, (100 * ms) / total);
  const step = (by: 1 | -1) => go(stepBy(log, at, by));
  const jump = (by: 1 | -1) => go(recoveryBeside(recoveries, at, by));
  useKeys("Run, moment", [
    { keys: "[", does: "one event back", run: () => step(-1) },
    { keys: "]", does: "one event forward", run: () => step(1) },
    { keys: "{", does: "the previous recovery", run: () => jump(-1) },
    { keys: "}", does: "the next recovery", run: () => jump(1) },
    { keys: "0", does: "back to now", run: () => go(null) },
  ]);
  return (
    <section className="scrub" aria-label="Moment">
      <div className="row small">
        <span className="row g2">
          <button type="button" className="btn icon sm" aria-label="Previous event" onClick={() => step(-1)}>
            <Icon name="previous" small />
          </button>
          <button type="button" className="btn icon sm" aria-label="Next event" onClick={() => step(1)}>
            <Icon name="next" small />
          </button>
        </span>
        {at === null ? (
          <Cut className="dim num">
            End of the log, {log.events} events in {durationText(total)}
          </Cut>
        ) : (
          <span className="row g3 num cut">
            <span className="chip ink">Past</span>
            <Cut>
              event {at} of {log.events}, +{durationText(Math.max(0, Math.round(ms)))}
              {event === null ? "" : `: ${event.type}`}
            </Cut>
          </span>
        )}
        <span className="end" />
        <span className="dim hide-s hide-n">
          <kbd>[</kbd> <kbd>]</kbd> event <kbd>{"{"}</kbd> <kbd>{"}"}</kbd> recovery
        </span>
        {at !== null && (
          <button type="button" className="btn sm" onClick={() => go(null)}>
            Back to the end
          </button>
        )}
      </div>
      <div className="track">
        <Bars log={log} />
        <input
          type="range"
          min="0"
          max={TICKS}
          value={Math.round((TICKS * place) / 100)}
          aria-label="Moment in the log"
          aria-valuetext={at === null ? "end of the log" : `event ${at} of ${log.events}`}
          onChange={(event) => go(seqAt(log, (Number(event.target.value) / TICKS) * total))}
        />
        <span className="ph" style={{ left: `${place}%` }} />
        <Badges log={log} recoveries={recoveries} chosen={chosen} choose={choose} />
      </div>
    </section>
  );
}

function Bars({ log }: { readonly log: TimelineData }): ReactNode {
  const total = spanOf(log);
  const { events, failures } = useMemo(() => {
    const most = Math.max(1, ...log.stretches.map((stretch) => stretch.events));
    const x = (ms: number) => (1_000 * ms) / total;
    const width = Math.max(2.5, Math.min(7, x(log.stretch_ms) - 1));
    let [all, bad] = ["", ""];
    for (const { from_ms, events: count, failures: failed } of log.stretches) {
      const height = 3 + 15 * Math.sqrt(count / most);
      all += `M${x(from_ms).toFixed(1)} ${(38 - height).toFixed(1)}h${width.toFixed(1)}v${height.toFixed(1)}h-${width.toFixed(1)}z`;
      if (failed > 0) bad += `M${x(from_ms).toFixed(1)} 24h3v14h-3z`;
    }
    return { events: all, failures: bad };
  }, [log, total]);
  return (
    <svg viewBox="0 0 1000 40" preserveAspectRatio="none" aria-hidden="true">
      <path className="axis" d="M0 38.5h1000" />
      <path className="bars" d={events} />
      <path className="ticks" d={failures} />
    </svg>
  );
}

type BadgesProps = Pick<ScrubProps, "log" | "recoveries" | "chosen" | "choose">;

function Badges({ log, recoveries, chosen, choose }: BadgesProps): ReactNode {
  const total = spanOf(log);
  const start = Date.parse(log.first_at);
  const line = useRef<HTMLSpanElement>(null);
  const least = (100 * BADGE_PX) / useWidth(line, 760);
  const places = badgePlaces(
    recoveries.map(({ first_at }) => (100 * (Date.parse(first_at) - start)) / total),
    recoveries.length * least > 100 ? 0 : least,
  );
  const badges = recoveries.map((recovery, index) => (
    <button
      key={recovery.number}
      type="button"
      className={`n${recovery.rung === "edge" ? " bad" : ""}${recovery.number === chosen ? " chosen" : ""}`}
      style={{ left: `calc(${places[index]}% - 9px)` } as CSSProperties}
      aria-label={`Go to recovery ${recovery.number}`}
      aria-pressed={recovery.number === chosen}
      onClick={() => choose(recovery)}
    >
      {recovery.number}
    </button>
  ));
  return (
    <>
      <span ref={line} className="trackline" />
      {badges}
    </>
  );
}
