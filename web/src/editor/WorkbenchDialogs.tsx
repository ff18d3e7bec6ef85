import type { ReactNode } from "react";
import { addressOf } from "../place.js";
import { CompareVersions } from "./CompareVersions.js";
import { Conflict } from "./Conflict.js";
import { Ask } from "./Dialogs.js";
import type { useDraft } from "./use-draft.js";
import type { useLeaving } from "./use-leaving.js";

/** What a button of the editor asked for. */
export type Asked = "discard" | { readonly compareFrom: number };

interface DialogsProps {
  readonly name: string;
  readonly mine: string;
  readonly draft: ReturnType<typeof useDraft>;
  readonly leaving: ReturnType<typeof useLeaving>;
  readonly asked: Asked | null;
  readonly onAnswered: () => void;
  readonly onTake: (theirs: string) => void;
  readonly onSave: (basedOn: number) => void;
}

/** Whatever lies over the editor. */
export function WorkbenchDialogs(props: DialogsProps): ReactNode {
  const { name, mine, draft, leaving, asked, onAnswered, onTake, onSave } = props;
  const { clash } = draft.state;
  return (
    <>
      {clash !== null && clash.theirs !== null && (
        <Conflict
          theirs={clash.theirs}
          mine={mine}
          onTake={() => {
            const theirs = clash.theirs!;
            onTake(theirs.source);
            draft.take(theirs);
          }}
          onSaveMine={() => onSave(clash.theirs!.revision)}
          onClose={draft.closeClash}
        />
      )}
      {clash !== null && clash.theirs === null && (
        <Ask
          title={`Somebody else discarded the draft of ${name}`}
          stay="Back to my text"
          go="Save mine as a new draft"
          onStay={draft.closeClash}
          onGo={() => onSave(0)}
        >
          Nothing was written. Your text is still here.
        </Ask>
      )}
      {asked === "discard" && (
        <Ask
          title={`Discard the draft of ${name}?`}
          stay="Keep it"
          go="Discard draft"
          onStay={() => onAnswered()}
          onGo={() => void discard(draft, leaving.leave)}
        >
          Its text is gone then. Versions published from it stay.
        </Ask>
      )}
      {asked !== null && asked !== "discard" && (
        <CompareVersions name={name} from={asked.compareFrom} to="draft" onClose={() => onAnswered()} />
      )}
      {leaving.wanted !== null && (
        <Ask
          title="Leave without saving?"
          stay="Stay"
          go="Leave without saving"
          onStay={leaving.stay}
          onGo={leaving.leave}
        >
          What you have changed in {name} since it was saved is lost.
        </Ask>
      )}
    </>
  );
}

async function discard(draft: ReturnType<typeof useDraft>, leave: () => void): Promise<void> {
  if (!(await draft.discard())) return;
  leave();
  location.hash = addressOf(["workflows"]);
}
