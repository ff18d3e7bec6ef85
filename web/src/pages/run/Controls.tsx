import { type ReactNode, useEffect, useId, useMemo, useState } from "react";
import type { Problem } from "../../api/client.js";
import { Keys } from "../../keys/KeysOverlay.js";
import { useKeys } from "../../keys/use-keys.js";
import { Button } from "../../parts/Button.js";
import { HintField } from "../../parts/HintField.js";
import { Icon } from "../../parts/Icon.js";
import { Refused } from "../../parts/Notice.js";
import { addressOf } from "../../place.js";
import { sentence } from "../../words/moment.js";
import { type ControlWords, LOOKING_BACK } from "./control-words.js";
import { type Control, useControls } from "./run-data.js";
import { type Answer, isAbout, sendControl } from "./send-control.js";

interface DialogProps {
  readonly words: ControlWords;
  readonly run: { readonly run_id: number; readonly workflow: string };
  readonly step: string | null;
  readonly job: number | null;
  /** A running step must be ended first. */
  readonly needsForce: boolean;
  /** The harder variant is selected. */
  readonly harder: boolean;
  readonly close: () => void;
  readonly done: () => void;
}

/** Shows what a control will do, by a dry run of exactly this request, before anything is sent. */
function ControlDialog(props: DialogProps): ReactNode {
  const { run, step, job, needsForce, close, done } = props;
  const { harder } = props.words;
  const [isHarder, setHarder] = useState(false);
  const words = isHarder && harder !== undefined ? harder.words : props.words;
  const [reason, setReason] = useState("");
  const [output, setOutput] = useState("");
  const [typedHint, setHint] = useState("");
  const [answered, setAnswered] = useState<(Answer & { readonly to: ControlWords["action"] }) | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [sending, setSending] = useState(false);
  const key = useMemo(() => crypto.randomUUID(), []);
  const field = useId();
  const outputField = useId();
  const { run_id: runId, workflow } = run;
  const hint = words.takesHint === true ? typedHint : "";
  const about = isAbout(words, step, hint);
  const title = words.asked({ run: runId, step: step ?? "" });
  const { action } = words;
  const settled = useSettled(output);
  const settledHint = useSettled(hint);
  const preview = settled === output && settledHint === hint && answered?.to === action ? answered : null;
  useEffect(() => {
    let current = true;
    const given = { output: settled, hint: settledHint, force: needsForce, reason: "" };
    const wish = { runId, action, step: about, job, ...given, key };
    const show = (answer: Answer | null, refusal: Problem | null): void => {
      if (!current) return;
      setAnswered(answer === null ? null : { ...answer, to: action });
      setProblem(refusal);
    };
    sendControl(wish, true).then(
      (answer) => show(answer, null),
      (error: Problem) => show(null, error),
    );
    return () => {
      current = false;
    };
  }, [runId, action, about, job, settled, settledHint, needsForce, key]);
  const send = async (): Promise<void> => {
    if (sending || preview === null) return;
    setSending(true);
    try {
      const wish = { runId, action, step: about, job, output, hint, force: needsForce, reason, key };
      const { started } = await sendControl(wish, false);
      close();
      if (started !== null) location.hash = addressOf(["runs", started]);
      else done();
    } catch (error) {
      setProblem(error as Problem);
      setSending(false);
    }
  };
  useKeys(
    title,
    [
      { keys: "esc", does: "close", run: close, inFields: true },
      { keys: "mod+enter", does: "send", run: () => void send(), inFields: true },
    ],
    { modal: true },
  );
  return (
    <div className="veil">
      <div className="dialog" role="alertdialog" aria-modal="true" aria-label={title}>
        <div>
          <h2>
            {title}
            {about === null ? "" : ` in run ${runId}`} of {workflow}?
          </h2>
          <p>{words.effect}</p>
          {needsForce && <p className="bad">The step that is running in the workspace is ended first.</p>}
          {words.withOutput && (
            <label className="row" htmlFor={outputField}>
              Output
              <input
                id={outputField}
                className="input grow mono"
                value={output}
                placeholder='JSON, such as {"rows": 0}; empty: null'
                maxLength={4_000}
                onChange={(event) => setOutput(event.target.value)}
              />
            </label>
          )}
          {words.takesHint === true && step !== null && <HintField value={typedHint} onChange={setHint} />}
          {props.harder && harder !== undefined && (
            <label className="row g2">
              <input
                type="checkbox"
                checked={isHarder}
                onChange={(event) => setHarder(event.target.checked)}
              />
              {harder.choice}
            </label>
          )}
          <label className="row" htmlFor={field}>
            Reason
            <input
              id={field}
              className="input grow"
              value={reason}
              maxLength={2_000}
              onChange={(event) => setReason(event.target.value)}
            />
          </label>
          <Preview preview={preview} refused={problem !== null} />
          {problem !== null && <Refused problem={problem} />}
        </div>
        <footer>
          {/* biome-ignore lint/a11y/noAutofocus: the harmless button has the focus */}
          <button type="button" className="btn" autoFocus onClick={close}>
            {words.harmless}
          </button>
          <button
            type="button"
            className={words.danger ? "btn danger" : "btn pri"}
            aria-disabled={preview === null || sending}
            onClick={() => void send()}
          >
            {title}
          </button>
        </footer>
      </div>
    </div>
  );
}

function Preview({
  preview,
  refused,
}: {
  readonly preview: Answer | null;
  readonly refused: boolean;
}): ReactNode {
  if (preview === null)
    return (
      <div className="preview small dim">{refused ? "Nothing was done." : "Checking what will happen…"}</div>
    );
  return (
    <div className="preview small">
      <b>What will happen</b>
      {preview.lines.length === 0 && <div>No step changes its status.</div>}
      {preview.lines.map((line) => (
        <div key={line} className="mono-s">
          {line}
        </div>
      ))}
    </div>
  );
}

const SETTLE_MS = 250;

/** The typed text, after a pause in typing. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), SETTLE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

interface ControlsProps {
  readonly run: { readonly run_id: number; readonly workflow: string };
  readonly step: string | null;
  readonly shown: readonly ControlWords[];
  readonly isPast: boolean;
  readonly reload: () => void;
}

/** The controls of a run or a step. One that cannot be used keeps its place and says why; the server decides that. */
export function Controls({ run, step, shown, isPast, reload }: ControlsProps): ReactNode {
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
      const wish = { runId: run.run_id, action: words.action, step: null, job: null, output: "", hint: "" };
      await sendControl({ ...wish, force: false, reason: "", key }, false);
      setProblem(null);
    } catch (error) {
      setProblem(error as Problem);
    }
    done();
  };
  const controlOf = (words: ControlWords): Control | undefined =>
    data?.items.find(({ action }) => action === words.action);
  const offered = shown.map((each) => {
    const harder = each.harder?.words;
    const isTooLate = harder !== undefined && isAllowed(controlOf(harder)) && !isAllowed(controlOf(each));
    const words = isTooLate ? harder : each;
    const control = controlOf(words);
    const why = isPast ? LOOKING_BACK : whyNot(control, unread);
    return { words, why, press: () => control !== undefined && void press(words, control) };
  });
  useKeys(
    "Controls",
    offered.flatMap(({ words: { key, label }, why, press: run }) =>
      key === undefined || why !== null ? [] : [{ keys: key, does: label.toLowerCase(), run }],
    ),
  );
  return (
    <div className="ctl row g3">
      {offered.map(({ words, why, press: onPress }) => (
        <ControlButton key={words.action} words={words} why={why} press={onPress} />
      ))}
      {problem !== null && <Refused problem={problem} />}
      {open !== null && (
        <ControlDialog
          words={open.words}
          run={run}
          step={step}
          job={data?.target?.job_id ?? null}
          needsForce={open.control.needs_force}
          harder={isAllowed(open.words.harder && controlOf(open.words.harder.words))}
          close={() => setOpen(null)}
          done={done}
        />
      )}
    </div>
  );
}

function isAllowed(control: Control | undefined): boolean {
  return control?.allowed === true;
}

/** Why a control cannot be used; null if it can. */
function whyNot(control: Control | undefined, unread: Problem | null): string | null {
  if (control === undefined) return unread === null ? "Checking what will happen" : unread.message;
  return control.allowed ? null : sentence(control.reason ?? "Not now");
}

interface ControlProps {
  readonly words: ControlWords;
  readonly why: string | null;
  readonly press: () => void;
}

function ControlButton({
  words: { label, icon, danger, atOnce, key, isFirst },
  why,
  press,
}: ControlProps): ReactNode {
  return (
    <Button why={why} look={danger ? "danger" : isFirst ? "first" : "plain"} title={label} onPress={press}>
      <Icon name={icon} small />
      <span className={atOnce ? "lbl brief" : "lbl"}>{label}</span>
      {key !== undefined && <Keys keys={key} />}
    </Button>
  );
}
