import { type ReactNode, useState } from "react";
import type { Problem } from "../../api/client.js";
import { Keys } from "../../keys/KeysOverlay.js";
import { useKeys } from "../../keys/use-keys.js";
import { Button } from "../../parts/Button.js";
import { Icon } from "../../parts/Icon.js";
import { Refused } from "../../parts/Notice.js";
import { sentence } from "../../words/moment.js";
import { ControlDialog } from "./ControlDialog.js";
import { type ControlWords, LOOKING_BACK } from "./control-words.js";
import { type Control, useControls } from "./run-data.js";
import { sendControl } from "./send-control.js";

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
