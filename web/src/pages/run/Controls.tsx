import { type ReactNode, useId, useState } from "react";
import type { Problem } from "../../api/client.js";
import { Icon } from "../../parts/Icon.js";
import { Refused } from "../../parts/Notice.js";
import { sentence } from "../../words/moment.js";
import { ControlDialog } from "./ControlDialog.js";
import { CONTROLS, type ControlWords, LOOKING_BACK } from "./control-words.js";
import { type Control, type RunSummary, useControls } from "./run-data.js";
import { sendControl } from "./send-control.js";

interface ControlsProps {
  readonly run: RunSummary;
  readonly step: string | null;
  readonly isPast: boolean;
  readonly reload: () => void;
  /** Only these. */
  readonly only?: readonly ControlWords["action"][];
}

/** What can be done with a run. What cannot keeps its place and says why; the server decides which is which. */
export function Controls({ run, step, isPast, reload, only }: ControlsProps): ReactNode {
  const { data, problem: unread, reload: again } = useControls(run.run_id, step);
  const [open, setOpen] = useState<{ readonly words: ControlWords; readonly control: Control } | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const done = (): void => {
    again();
    reload();
  };
  const press = async (words: ControlWords, control: Control): Promise<void> => {
    if (!words.atOnce) return setOpen({ words, control });
    try {
      const key = crypto.randomUUID();
      await sendControl(
        { runId: run.run_id, action: words.action, step: null, force: false, reason: "", key },
        false,
      );
      setProblem(null);
    } catch (error) {
      setProblem(error as Problem);
    }
    done();
  };
  const shown = CONTROLS.filter(({ action }) => only === undefined || only.includes(action));
  return (
    <div className="ctl row g3">
      {shown.map((words) => {
        const control = data?.items.find(({ action }) => action === words.action);
        const why = isPast ? LOOKING_BACK : whyNot(control, unread);
        return (
          <ControlButton
            key={words.action}
            words={renamed(words, run)}
            why={why}
            press={() => control !== undefined && void press(words, control)}
          />
        );
      })}
      {problem !== null && <Refused problem={problem} />}
      {open !== null && (
        <ControlDialog
          words={open.words}
          run={run}
          step={step}
          needsForce={open.control.needs_force}
          close={() => setOpen(null)}
          done={done}
        />
      )}
    </div>
  );
}

/** Null: it can be used. */
function whyNot(control: Control | undefined, unread: Problem | null): string | null {
  if (control === undefined) return unread === null ? "Asking the server" : unread.message;
  return control.allowed ? null : sentence(control.reason ?? "Not now");
}

/** A run that somebody has taken over is handed back. */
function renamed(words: ControlWords, { live_control }: RunSummary): ControlWords {
  return words.action === "resume" && live_control.takeover ? { ...words, label: "Hand back" } : words;
}

interface ButtonProps {
  readonly words: ControlWords;
  readonly why: string | null;
  readonly press: () => void;
}

function ControlButton({ words: { label, icon, danger, atOnce }, why, press }: ButtonProps): ReactNode {
  const id = useId();
  return (
    <span className="tip">
      <button
        type="button"
        className={danger ? "btn danger" : "btn"}
        aria-disabled={why !== null}
        aria-describedby={why === null ? undefined : id}
        onClick={() => why === null && press()}
      >
        <Icon name={icon} small />
        <span className={atOnce ? "lbl brief" : "lbl"}>{label}</span>
      </button>
      {why !== null && (
        <span id={id} className="why" role="tooltip">
          {why}
        </span>
      )}
    </span>
  );
}
