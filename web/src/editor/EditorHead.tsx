import type { ReactNode } from "react";
import { addressOf } from "../place.js";
import { count } from "../words/status.js";
import { clockTime } from "../words/times.js";
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
  readonly problems: number | null;
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
      {isDraft && draft.revision > 0 && newest !== undefined && (
        <button type="button" className="btn" onClick={() => props.onCompare(newest.version)}>
          Compare with v{newest.version}
        </button>
      )}
      {mayEdit && <DraftButtons {...props} />}
      {problems !== null && problems > 0 && <span className="chip bad">{count(problems, "problem")}</span>}
      {mayEdit && <Publish draft={draft} isDirty={isDirty} problems={problems} onPublish={props.onPublish} />}
      {mayAct && newest?.published === true && (
        <a
          className="btn"
          href={addressOf(["workflows", name, "start"], {
            version: version === null ? null : String(version),
          })}
        >
          Start run <kbd>N</kbd>
        </a>
      )}
    </header>
  );
}

function DraftChip({ draft, isDirty }: { readonly draft: DraftState; readonly isDirty: boolean }): ReactNode {
  const { revision, savedAt, done } = draft;
  return (
    <>
      <span className="chip line">{revision === 0 ? "no draft yet" : `draft, revision ${revision}`}</span>
      <span className="dim small" role="status">
        {isDirty ? "not saved" : (done ?? (savedAt === null ? "" : `saved ${clockTime(savedAt)} UTC`))}
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
      {draft.revision > 0 && (
        <button type="button" className="btn ghost" onClick={onDiscard}>
          Discard
        </button>
      )}
      <span className="tip">
        <button
          type="button"
          className="btn"
          aria-disabled={why !== null}
          aria-description={why ?? undefined}
          onClick={() => why === null && onSave()}
        >
          Save draft <kbd>Ctrl S</kbd>
        </button>
        {why !== null && <span className="why">{why}</span>}
      </span>
    </>
  );
}

interface PublishProps {
  readonly draft: DraftState;
  readonly isDirty: boolean;
  readonly problems: number | null;
  readonly onPublish: () => void;
}

function Publish({ draft, isDirty, problems, onPublish }: PublishProps): ReactNode {
  const why =
    problems === null
      ? "The text is being checked"
      : problems > 0
        ? `Fix ${count(problems, "problem")} first. A draft with problems cannot be published`
        : draft.revision === 0 || isDirty
          ? "Save the draft first"
          : null;
  return (
    <span className="tip">
      <button
        type="button"
        className="btn pri"
        aria-disabled={why !== null}
        aria-description={why ?? undefined}
        onClick={() => why === null && onPublish()}
      >
        Publish
      </button>
      {why !== null && <span className="why">{why}</span>}
    </span>
  );
}
