import { type FormEvent, type ReactNode, useId, useState } from "react";
import { Problem, signIn } from "../api/client.js";

/** Over the page, which stays where it was. */
export function SignIn({ onSignedIn }: { readonly onSignedIn: () => void }): ReactNode {
  const [wrong, setWrong] = useState<string | null>(null);
  const field = useId();
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
    <div className="veil">
      <form className="dialog" onSubmit={(event) => void send(event)}>
        <div>
          <h2>Sign in</h2>
          <label htmlFor={field}>Token</label>
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
            Make one with <code className="mono-s">daruma token create NAME --role operator</code>. The
            browser keeps it in a cookie that no script can read.
          </p>
        </div>
        <footer>
          <button type="submit" className="btn pri">
            Sign in
          </button>
        </footer>
      </form>
    </div>
  );
}
