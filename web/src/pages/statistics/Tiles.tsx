import type { ReactNode } from "react";
import { durationText } from "../../../../src/tell/words/duration-text.js";
import { Doll, type Face } from "../../parts/Doll.js";
import { addressOf } from "../../place.js";
import { costText, decidedText, numberText, percentText, type Stats } from "../../words/statistics.js";

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
