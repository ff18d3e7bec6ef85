import { type FormEvent, type ReactNode, useState } from "react";

interface AskButtonProps {
  /** On the button: a verb. */
  readonly short: string;
  /** The verb with its object: "Release gpu-1". */
  readonly words: string;
  /** What will happen. */
  readonly effect: string;
  readonly isDanger?: boolean;
  /** The reason is shown to others; what needs none is only confirmed. */
  readonly asksReason?: boolean;
  readonly onSend: (reason: string) => void;
}

/** Names what it does and to what before it does it. */
export function AskButton(props: AskButtonProps): ReactNode {
  const { short, words, effect, isDanger = false, asksReason = false, onSend } = props;
  const [isAsking, setAsking] = useState(false);
  const send = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    setAsking(false);
    onSend(String(new FormData(event.currentTarget).get("reason") ?? "").trim());
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
      {isAsking && (
        <div className="veil">
          <form
            className="dialog"
            role="alertdialog"
            aria-label={words}
            onSubmit={send}
            onKeyDown={({ key }) => key === "Escape" && setAsking(false)}
          >
            <div>
              <h2>{words}?</h2>
              <p>{effect}</p>
              {asksReason && (
                <label className="small dim">
                  Reason, shown to others
                  <input
                    className="input"
                    name="reason"
                    maxLength={1000}
                    required
                    pattern=".*\S.*"
                    ref={focus}
                  />
                </label>
              )}
            </div>
            <footer>
              <button
                type="button"
                className="btn"
                ref={asksReason ? null : focus}
                onClick={() => setAsking(false)}
              >
                Leave it as it is
              </button>
              <button type="submit" className={isDanger ? "btn danger" : "btn pri"}>
                {words}
              </button>
            </footer>
          </form>
        </div>
      )}
    </>
  );
}

function focus(element: HTMLElement | null): void {
  element?.focus();
}
