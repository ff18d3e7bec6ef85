import type { Message } from "../../core/notices/notice.js";
import type { EmailChannel } from "../../file/settings/channels.js";
import type { Environment } from "./find-secret.js";
import { readSecret } from "./secrets.js";

/** Sends one message over a connection of its own. Messages are few, and no connection stays open. */
export async function sendEmail(
  { host, port, tls, user, secret, from, to, timeoutMs }: EmailChannel,
  { id, at, subject, text, kind }: Message,
  { env, signal }: { readonly env: Environment; readonly signal: AbortSignal },
): Promise<string | null> {
  const pass = secret === null ? null : readSecret(secret, env);
  const { createTransport } = await import("nodemailer");
  const transport = createTransport({
    ...{ host, port, secure: tls === "implicit", requireTLS: tls === "starttls", ignoreTLS: tls === "none" },
    ...{ connectionTimeout: timeoutMs, greetingTimeout: timeoutMs, socketTimeout: timeoutMs },
    ...(user === null || pass === null ? {} : { auth: { user, pass } }),
    ...{ disableFileAccess: true, disableUrlAccess: true },
  });
  const stop = (): void => transport.close();
  signal.addEventListener("abort", stop, { once: true });
  const domain = from.replace(/^.*@|>.*$/g, "");
  const headers = { "Auto-Submitted": "auto-generated", "X-Daruma-Kind": kind };
  try {
    await within(
      transport.sendMail({
        ...{ from, to: [...to], subject: `[daruma] ${subject}`, text: `${text}\n`, date: new Date(at) },
        // Mail programs show two copies with the same id as one message.
        ...{ messageId: `<${id}@${domain}>`, headers },
      }),
      signal,
    );
    return null;
  } catch (error) {
    return reasonOf(error, signal);
  } finally {
    signal.removeEventListener("abort", stop);
    transport.close();
  }
}

function within(work: Promise<unknown>, signal: AbortSignal): Promise<unknown> {
  work.catch(() => {});
  const aborted = new Promise((_, reject) => {
    const stop = (): void => reject(new Error("aborted"));
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
  return Promise.race([work, aborted]);
}

/** The server's reply, without anything that was sent to it. */
function reasonOf(error: unknown, signal: AbortSignal): string {
  if (signal.aborted) return "the mail server gave no answer in time";
  const { code, responseCode, response } = error as {
    readonly code?: string;
    readonly responseCode?: number;
    readonly response?: string;
  };
  if (code === "EAUTH")
    return `the mail server refused the user or password (${responseCode ?? "no answer"})`;
  if (response !== undefined) return `the mail server answered ${response}`;
  return `the mail server cannot be reached: ${code ?? (error instanceof Error ? error.message : "error")}`;
}
