import { type ReactNode, useSyncExternalStore } from "react";
import { durationText } from "../../../../src/tell/words/duration-text.js";
import { stackBars } from "../../charts/stacked-bars.js";
import { Doll, type Face } from "../../parts/Doll.js";
import { addressOf } from "../../place.js";
import {
  costText,
  decidedText,
  numberText,
  OUTCOMES,
  percentText,
  piecesOf,
  type Stats,
  type Window,
} from "../../words/statistics.js";

/** The most important figures. */
export function Tiles({ stats }: { readonly stats: Stats }): ReactNode {
  const { runs, outcomes, decisions } = stats;
  const rescued = outcomes.rescued + outcomes.handled;
  return (
    <div className="tiles">
      <Tile
        name="Runs"
        figure={numberText(runs)}
        more={`${numberText(outcomes.at_once)} without a failure`}
      />
      <Tile
        name="Rescued"
        face="recovered"
        tone="gold"
        figure={numberText(rescued)}
        more={`${numberText(outcomes.handled)} of them with a handled failure`}
      />
      <Tile
        name="Needed a person"
        face="held"
        tone="person"
        figure={numberText(outcomes.held + decisions.holds + decisions.questions)}
        more={decidedText(stats)}
        href={addressOf(["inbox"])}
      />
      <Tile
        name="Failed"
        face="failed"
        tone="bad"
        figure={numberText(outcomes.failed)}
        more={`${percentText(outcomes.failed, runs)} of runs`}
        href={addressOf(["runs"], { show: "failed" })}
      />
      <Tile
        name="Cost of trying again"
        figure={durationText(stats.lost_ms + stats.retry_waiting_ms)}
        more={costText(stats)}
      />
    </div>
  );
}

interface TileProps {
  readonly name: string;
  readonly figure: string;
  readonly more: string;
  readonly face?: Face;
  readonly tone?: string;
  readonly href?: string;
}

function Tile({ name, figure, more, face, tone = "", href }: TileProps): ReactNode {
  const content = (
    <>
      <span>{name}</span>
      <b className={tone}>
        {face !== undefined && <Doll face={face} />}
        {figure}
      </b>
      <span>{more}</span>
    </>
  );
  return href === undefined ? (
    <div className="tile">{content}</div>
  ) : (
    <a className="tile" href={href}>
      {content}
    </a>
  );
}

const WIDE = { width: 810, height: 252 };
/** The size for a phone, which keeps letters at their usual size. */
const NARROW = { width: 366, height: 200 };
const ON_PHONE = matchMedia("(max-width: 719px)");

function useSize(): typeof WIDE {
  const isNarrow = useSyncExternalStore(
    (listener) => {
      ON_PHONE.addEventListener("change", listener);
      return () => ON_PHONE.removeEventListener("change", listener);
    },
    () => ON_PHONE.matches,
  );
  return isNarrow ? NARROW : WIDE;
}

const ORDER = OUTCOMES.map(({ name }) => name);

interface ChartProps {
  readonly stats: Stats;
  readonly window: Window;
  readonly now: number;
  readonly from: string;
}

/** Runs by outcome over time. A table has the same data for people who cannot see the chart. */
export function OutcomeChart({ stats, window, now, from }: ChartProps): ReactNode {
  const size = useSize();
  const pieces = piecesOf(stats.over_time, window, now);
  const { bars, grid, labels } = stackBars(pieces, ORDER, size);
  return (
    <section className="panel" aria-label="Outcome of runs">
      <header>
        <h2>Outcome of runs</h2>
        <span className="small dim wide-only">{from}</span>
        <span className="key end">
          {OUTCOMES.map(({ name, words }) => (
            <span key={name}>
              <i className={`k-${name}`} />
              {words}
            </span>
          ))}
        </span>
      </header>
      <svg className="chart" viewBox={`0 0 ${size.width} ${size.height}`} aria-hidden="true">
        <defs>
          <pattern
            id="hatch"
            width="5"
            height="5"
            patternUnits="userSpaceOnUse"
            patternTransform="rotate(45)"
          >
            <rect className="hatch-ground" width="5" height="5" />
            <rect className="hatch-line" width="1.4" height="5" />
          </pattern>
        </defs>
        {grid.map(({ y, value }) => (
          <g key={value}>
            <path className="gl" d={`M34 ${y}H${size.width - 8}`} />
            <text x="28" y={y + 4} textAnchor="end">
              {numberText(value)}
            </text>
          </g>
        ))}
        {bars.map(({ part, x, y, width, height }) => (
          <rect
            key={`${part} ${x}`}
            className={`c-${part}`}
            x={x}
            y={y}
            width={width}
            height={height}
            rx="1.5"
          />
        ))}
        {labels.map(({ x, text }) => (
          <text key={x} x={x} y={size.height - 6} textAnchor="middle">
            {text}
          </text>
        ))}
      </svg>
      <table className="sr">
        <caption>Runs by outcome, {from}</caption>
        <thead>
          <tr>
            <th>Since</th>
            {OUTCOMES.map(({ name, words }) => (
              <th key={name}>{words}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {pieces.map(({ at, label, parts }) => (
            <tr key={at}>
              <th>{label}</th>
              {ORDER.map((name) => (
                <td key={name}>{parts[name]}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
