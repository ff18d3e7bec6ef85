import type { ReactNode, RefObject } from "react";
import { Icon } from "../parts/Icon.js";
import type { LogStreamName } from "./line-window.js";
import type { Found } from "./use-lines.js";

export type Shown = LogStreamName | "both";

interface LogToolsProps {
  readonly shown: Shown;
  readonly counts: { readonly [stream in LogStreamName]: number };
  readonly onShow: (shown: Shown) => void;
  readonly find: {
    readonly field: RefObject<HTMLInputElement | null>;
    readonly text: string;
    readonly regex: boolean;
    readonly found: Found;
    readonly place: number;
    readonly onText: (text: string) => void;
    readonly onRegex: (regex: boolean) => void;
    readonly onStep: (by: 1 | -1) => void;
  };
  readonly errors: { readonly place: number; readonly count: number; readonly onStep: (by: 1 | -1) => void };
  readonly wrap: { readonly on: boolean; readonly onSwitch: () => void };
  readonly follow: { readonly on: boolean; readonly isRunning: boolean; readonly onSwitch: () => void };
  readonly copy: { readonly words: string; readonly problem: string | null; readonly onCopy: () => void };
}

export function LogTools({
  shown,
  counts,
  onShow,
  find,
  errors,
  wrap,
  follow,
  copy,
}: LogToolsProps): ReactNode {
  return (
    <div className="logtools">
      <fieldset className="seg">
        <legend className="sr">Which output</legend>
        {(["stderr", "stdout"] as const).map((stream) => (
          <button key={stream} type="button" aria-pressed={shown === stream} onClick={() => onShow(stream)}>
            {stream} {counts[stream].toLocaleString("en")}
          </button>
        ))}
        <button
          type="button"
          aria-pressed={shown === "both"}
          title="Both, one below the other"
          onClick={() => onShow("both")}
        >
          both
        </button>
      </fieldset>
      <Find find={find} />
      <span className="grow" />
      <span className="row g3 small">
        <b className={errors.count > 0 ? "bad" : "dim"} role="status">
          {errors.count === 0 ? "no error lines" : `error ${errors.place || "–"} of ${errors.count}`}
        </b>
        <Steps what="error" keys={["P", "N"]} isOff={errors.count === 0} onStep={errors.onStep} />
      </span>
      <button type="button" className="btn" aria-pressed={wrap.on} onClick={wrap.onSwitch}>
        Wrap <kbd>W</kbd>
      </button>
      <button
        type="button"
        className="btn"
        aria-pressed={follow.on}
        aria-disabled={follow.isRunning ? undefined : true}
        title={
          follow.isRunning ? "Stay at the end while it grows" : "The attempt has ended: its log does not grow"
        }
        onClick={() => follow.isRunning && follow.onSwitch()}
      >
        Follow <kbd>F</kbd>
      </button>
      <button
        type="button"
        className="btn"
        aria-disabled={copy.problem === null ? undefined : true}
        title={copy.problem ?? "Copy all lines that are shown"}
        onClick={() => copy.problem === null && copy.onCopy()}
      >
        {copy.words}
      </button>
    </div>
  );
}

function Find({ find }: Pick<LogToolsProps, "find">): ReactNode {
  const { field, text, regex, found, place, onText, onRegex, onStep } = find;
  const count = `${place || "–"} of ${found.hits.length.toLocaleString("en")}${found.hasMore ? "+" : ""}`;
  return (
    <search className="row g2 find-log">
      <span className="input row g2">
        <Icon name="find" small />
        <input
          ref={field}
          type="text"
          value={text}
          placeholder="Find"
          aria-label="Find in log"
          onChange={({ target }) => onText(target.value)}
          onKeyDown={({ key, shiftKey, currentTarget }) => {
            if (key === "Enter") onStep(shiftKey ? -1 : 1);
            if (key === "Escape") currentTarget.blur();
          }}
        />
        <kbd>/</kbd>
      </span>
      <button
        type="button"
        className="btn icon"
        aria-pressed={regex}
        title="Regular expression (RE2)"
        aria-label="Regular expression"
        onClick={() => onRegex(!regex)}
      >
        .*
      </button>
      {text !== "" && (
        <span className={found.problem === null ? "small" : "small bad"} role="status">
          {found.problem ?? (found.isSearching ? "searching" : found.hits.length === 0 ? "not found" : count)}
        </span>
      )}
    </search>
  );
}

function Steps({
  what,
  keys,
  isOff,
  onStep,
}: {
  readonly what: string;
  readonly keys: readonly [string, string];
  readonly isOff: boolean;
  readonly onStep: (by: 1 | -1) => void;
}): ReactNode {
  return (
    <span className="seg">
      <button type="button" aria-disabled={isOff || undefined} onClick={() => onStep(-1)}>
        <span className="sr">Previous {what}</span>
        <span aria-hidden="true">
          ↑ <kbd>{keys[0]}</kbd>
        </span>
      </button>
      <button type="button" aria-disabled={isOff || undefined} onClick={() => onStep(1)}>
        <span className="sr">Next {what}</span>
        <span aria-hidden="true">
          ↓ <kbd>{keys[1]}</kbd>
        </span>
      </button>
    </span>
  );
}
