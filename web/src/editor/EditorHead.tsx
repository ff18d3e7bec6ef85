import type { ReactNode } from "react";
import { Keys } from "../keys/KeysOverlay.js";
import { Button } from "../parts/Button.js";
import { Icon } from "../parts/Icon.js";
import { StartLink } from "../parts/StartLink.js";
import { addressOf } from "../place.js";
import { count } from "../words/status.js";
import { namedTime } from "../words/times.js";
import type { Stored } from "./read-workflow.js";
import type { DraftState } from "./use-draft.js";

const SHOWN_VERSIONS = 4;

interface HeadProps {
  readonly name: string;
  readonly stored: Stored | null;
  readonly version: number | null;
  readonly draft: DraftState;
  readonly mayEdit: boolean;
  readonly mayAct: boolean;
  readonly isDirty: boolean;
  /** The number of problems; null while the text is being checked. */
  readonly problems: number | null;
  /** The number at the last check. */
  readonly lastProblems: number;
  readonly onSave: () => void;
  readonly onPublish: () => void;
  readonly onDiscard: () => void;
  readonly onCompare: (from: number) => void;
}

export function EditorHead(props: HeadProps): ReactNode {
  const { name, stored, version, draft, mayEdit, mayAct, isDirty, problems } = props;
  const versions = stored?.versions ?? [];
  const newest = versions.find(({ published }) => published) ?? versions[0];
  const isDraft = version === null;
  return (
    <header className="edhead">
      <h2 className="cut" title={name}>
        {name}
      </h2>
      {isDraft && <DraftChip draft={draft} isDirty={isDirty} />}
      {isDraft && draft.revision === 0 && newest?.published === false && (
        <span className="dim small hide-n">the text of v{newest.version}, from a run</span>
      )}
      <span className="end" />
      {versions.length > 0 && (
        <nav className="seg" aria-label="Versions">
          <a href={addressOf(["workflows", name, "edit"])} aria-current={isDraft ? "true" : undefined}>
            Draft
          </a>
          {versions.slice(0, SHOWN_VERSIONS).map((each) => (
            <a
              key={each.id}
              href={addressOf(["workflows", name], { version: String(each.version) })}
              aria-current={each.version === version ? "true" : undefined}
            >
              v{each.version}
              {each === newest && each.published ? " published" : ""}
            </a>
          ))}
        </nav>
      )}
      {isDraft && newest !== undefined && (
        <Button
          why={draft.revision === 0 ? "There is no draft to compare yet" : null}
          onPress={() => props.onCompare(newest.version)}
        >
          Compare with v{newest.version}
        </Button>
      )}
      {mayEdit && <DraftButtons {...props} />}
      {mayEdit && (
        <span className="probcount">
          {props.lastProblems > 0 && <span className="chip bad">{count(props.lastProblems, "problem")}</span>}
        </span>
      )}
      {mayEdit && (
        <Publish
          draft={draft}
          stored={stored}
          isDirty={isDirty}
          problems={problems}
          onPublish={props.onPublish}
        />
      )}
      {mayAct && <StartLink name={name} version={version} isPublished={newest?.published === true} hasKey />}
    </header>
  );
}

function DraftChip({ draft, isDirty }: { readonly draft: DraftState; readonly isDirty: boolean }): ReactNode {
  const { revision, savedAt, done } = draft;
  return (
    <>
      <span className="chip line">{revision === 0 ? "no draft yet" : `draft, revision ${revision}`}</span>
      <span className="dim small" role="status">
        {isDirty ? "not saved" : (done ?? (savedAt === null ? "" : `saved ${namedTime(savedAt)}`))}
      </span>
    </>
  );
}

function DraftButtons({ draft, isDirty, onSave, onDiscard }: HeadProps): ReactNode {
  const why = draft.busy
    ? "Saving"
    : isDirty || draft.revision === 0
      ? null
      : "Nothing has changed since it was saved";
  return (
    <>
      <Button
        why={draft.revision === 0 ? "There is no draft to discard yet" : null}
        look="quiet"
        onPress={onDiscard}
      >
        Discard
      </Button>
      <Button why={why} onPress={onSave}>
        Save draft <Keys keys="mod+s" />
      </Button>
    </>
  );
}

interface PublishProps {
  readonly draft: DraftState;
  /** The newest version. */
  readonly stored: Stored | null;
  readonly isDirty: boolean;
  readonly problems: number | null;
  readonly onPublish: () => void;
}

function Publish({ draft, stored, isDirty, problems, onPublish }: PublishProps): ReactNode {
  const why =
    problems === null
      ? "The text is being checked"
      : problems > 0
        ? `Fix ${count(problems, "problem")} first. A draft with problems cannot be published`
        : draft.revision === 0 || isDirty
          ? "Save the draft first"
          : stored?.published === true && stored.source === draft.saved
            ? `Nothing has changed since version ${stored.version}`
            : null;
  return (
    <Button why={why} look="first" onPress={onPublish}>
      <Icon name="check" small /> Publish
    </Button>
  );
}
