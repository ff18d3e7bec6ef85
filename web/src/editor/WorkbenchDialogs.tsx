import type { ReactNode } from "react";
import { Confirm } from "../parts/Confirm.js";
import { addressOf } from "../place.js";
import { CompareVersions } from "./CompareVersions.js";
import { Conflict } from "./Conflict.js";
import type { useDraft } from "./use-draft.js";
import type { useLeaving } from "./use-leaving.js";

/** The dialog that a button of the editor asked for. */
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

/** The dialogs of the editor. */
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
        <Confirm
          title={`Somebody else discarded the draft of ${name}`}
          no="Back to my text"
          yes="Save mine as a new draft"
          onNo={draft.closeClash}
          onYes={() => onSave(0)}
        >
          <p>Nothing was written. Your text is still here.</p>
        </Confirm>
      )}
      {asked === "discard" && (
        <Confirm
          title={`Discard the draft of ${name}?`}
          no="Keep it"
          yes="Discard draft"
          onNo={() => onAnswered()}
          onYes={() => void discard(draft, leaving.leave)}
        >
          <p>Its text is gone then. Versions published from it stay.</p>
        </Confirm>
      )}
      {asked !== null && asked !== "discard" && (
        <CompareVersions name={name} from={asked.compareFrom} to="draft" onClose={() => onAnswered()} />
      )}
      {leaving.wanted !== null && (
        <Confirm
          title="Leave without saving?"
          no="Stay"
          yes="Leave without saving"
          onNo={leaving.stay}
          onYes={leaving.leave}
        >
          <p>What you have changed in {name} since it was saved is lost.</p>
        </Confirm>
      )}
    </>
  );
}

async function discard(draft: ReturnType<typeof useDraft>, leave: () => void): Promise<void> {
  if (!(await draft.discard())) return;
  leave();
  location.hash = addressOf(["workflows"]);
}
