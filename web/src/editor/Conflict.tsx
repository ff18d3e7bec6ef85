import type { ReactNode } from "react";
import { type DiffLine, diffTexts } from "../../../src/core/text/diff-texts.js";
import { exactTime } from "../words/times.js";
import type { Draft } from "./read-workflow.js";
import { Sheet } from "./Sheet.js";

/** Showing more lines side by side is slow. Such texts can be compared with the command line. */
const MAX_LINES = 3_000;

interface ConflictProps {
  readonly theirs: Draft;
  readonly mine: string;
  readonly onTake: () => void;
  readonly onSaveMine: () => void;
  readonly onClose: () => void;
}

/** Shows both texts side by side after somebody else has saved. Nothing has been written. */
export function Conflict({ theirs, mine, onTake, onSaveMine, onClose }: ConflictProps): ReactNode {
  const lines = diffTexts(theirs.source, mine);
  const shown = lines.slice(0, MAX_LINES);
  return (
    <Sheet
      title={`Somebody else saved revision ${theirs.revision}`}
      onClose={onClose}
      footer={
        <>
          <button type="button" className="btn" onClick={onClose}>
            Back to my text
          </button>
          <button type="button" className="btn" onClick={onTake}>
            Go on from theirs
          </button>
          <button type="button" className="btn danger" onClick={onSaveMine}>
            Save mine over revision {theirs.revision}
          </button>
        </>
      }
    >
      <p className="small dim">
        Nothing was written. Theirs is of {exactTime(theirs.updated_at)}. If you go on from theirs, undo
        brings your text back.
      </p>
      <table className="sides">
        <thead>
          <tr>
            <th>Theirs, revision {theirs.revision}</th>
            <th>Mine</th>
          </tr>
        </thead>
        <tbody>
          {pairsOf(shown).map(({ at, left, right }) => (
            <tr key={at}>
              <td className={left !== null && right?.kind !== "same" ? "del" : ""}>{left?.text}</td>
              <td className={right !== null && right.kind !== "same" ? "add" : ""}>{right?.text}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {lines.length > shown.length && <p className="dim">{lines.length - shown.length} more lines</p>}
    </Sheet>
  );
}

interface LinePair {
  readonly at: number;
  readonly left: DiffLine | null;
  readonly right: DiffLine | null;
}

/** Pairs removed lines with the lines added in their place. */
function pairsOf(lines: readonly DiffLine[]): LinePair[] {
  const pairs: LinePair[] = [];
  let removed: DiffLine[] = [];
  const flush = (): void => {
    for (const left of removed) pairs.push({ at: pairs.length, left, right: null });
    removed = [];
  };
  for (const line of lines) {
    if (line.kind === "removed") removed.push(line);
    else if (line.kind === "added")
      pairs.push({ at: pairs.length, left: removed.shift() ?? null, right: line });
    else {
      flush();
      pairs.push({ at: pairs.length, left: line, right: line });
    }
  }
  flush();
  return pairs;
}
