import { type FormEvent, type ReactNode, useEffect, useId, useRef, useState } from "react";
import { Problem, signIn } from "../api/client.js";
import { useKeys } from "../keys/use-keys.js";
import { ProductDoll } from "../parts/Doll.js";

/** A dialog over the page, which keeps its state. */
export function SignIn({ onSignedIn }: { readonly onSignedIn: () => void }): ReactNode {
  const [wrong, setWrong] = useState<string | null>(null);
  const field = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  // It stays open until somebody has signed in, even if a dialog above it opens or closes.
  const stay = (): void => {
    if (dialog.current?.isConnected === true && !dialog.current.open) dialog.current.showModal();
  };
  useEffect(stay, []);
  useKeys("Sign in", [], { modal: true });
  const send = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const token = String(new FormData(event.currentTarget).get("token") ?? "").trim();
    try {
      await signIn(token);
      setWrong(null);
      onSignedIn();
    } catch (error) {
      setWrong(error instanceof Problem ? error.message : "The server does not answer.");
    }
  };
  return (
    <dialog
      ref={dialog}
      className="dialog signin"
      aria-label="Sign in"
      onCancel={(event) => event.preventDefault()}
      onClose={stay}
    >
      <form onSubmit={(event) => void send(event)}>
        <div>
          <h2 className="row">
            <ProductDoll /> This server wants a token
          </h2>
          <label htmlFor={field} className="sr">
            Token
          </label>
          <input
            id={field}
            name="token"
            type="password"
            className="input"
            autoComplete="off"
            placeholder="drm_…"
            required
          />
          {wrong !== null && (
            <p className="bad" role="alert">
              {wrong}
            </p>
          )}
          <p className="small dim">
            Ask an admin for one: <code className="mono-s">daruma token create NAME --role operator</code>. It
            stays in this browser until you sign out, in a cookie that no script can read.
          </p>
        </div>
        <footer>
          <button type="submit" className="btn pri">
            Sign in <kbd>↵</kbd>
          </button>
        </footer>
      </form>
    </dialog>
  );
}
