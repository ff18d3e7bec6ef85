import { type FormEvent, type ReactNode, useEffect, useRef, useState } from "react";
import { useKeys } from "../../keys/use-keys.js";

interface AskButtonProps {
  /** The button's text: a verb. */
  readonly short: string;
  /** The verb with its object: "Release gpu-1". */
  readonly words: string;
  /** What will happen. */
  readonly effect: string;
  readonly isDanger?: boolean;
  /** Asks for a reason, which others see. Otherwise the action is only confirmed. */
  readonly asksReason?: boolean;
  readonly onSend: (reason: string) => void;
}

/** A button that names its effect and object before it acts. */
export function AskButton(props: AskButtonProps): ReactNode {
  const { short, words, isDanger = false, onSend } = props;
  const [isAsking, setAsking] = useState(false);
  const send = (reason: string): void => {
    setAsking(false);
    onSend(reason);
  };
  return (
    <>
      <button
        type="button"
        className={isDanger ? "btn danger" : "btn"}
        aria-label={words}
        onClick={() => setAsking(true)}
      >
        {short}
      </button>
      {isAsking && <Asked {...props} onSend={send} onClose={() => setAsking(false)} />}
    </>
  );
}

interface AskedProps extends Omit<AskButtonProps, "short"> {
  readonly onClose: () => void;
}

function Asked({
  words,
  effect,
  isDanger = false,
  asksReason = false,
  onSend,
  onClose,
}: AskedProps): ReactNode {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  useKeys(words, [{ keys: "esc", does: "close", run: onClose, inFields: true }], { modal: true });
  const send = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    onSend(String(new FormData(event.currentTarget).get("reason") ?? "").trim());
  };
  return (
    <dialog ref={dialog} className="dialog" role="alertdialog" aria-label={words} onClose={onClose}>
      <form onSubmit={send}>
        <div>
          <h2>{words}?</h2>
          <p>{effect}</p>
          {asksReason && (
            <label className="small dim">
              Reason, shown to others
              <input className="input" name="reason" maxLength={1000} required pattern=".*\S.*" autoFocus />
            </label>
          )}
        </div>
        <footer>
          {/* biome-ignore lint/a11y/noAutofocus: pressing Enter without reading must not change anything */}
          <button type="button" className="btn" autoFocus={!asksReason} onClick={onClose}>
            Leave it as it is <kbd>esc</kbd>
          </button>
          <button type="submit" className={isDanger ? "btn danger" : "btn pri"}>
            {words}
          </button>
        </footer>
      </form>
    </dialog>
  );
}
