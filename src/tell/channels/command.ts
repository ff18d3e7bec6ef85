import { spawn } from "node:child_process";
import type { Message } from "../../core/notices/notice.js";
import { oneLine } from "../../core/text/plain-text.js";
import type { CommandChannel } from "../../file/settings/channels.js";
import type { Environment } from "./find-secret.js";

/** Variables that a program needs to run at all. */
const USUAL = ["PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "SHELL"];
const MAX_STDERR_CHARS = 2_000;
/** How much of stderr is kept. It is far more than is shown, so that no secret is cut before it is redacted. */
const MAX_HEARD_CHARS = 20_000;
const MAX_REASON_CHARS = 200;

interface Sending {
  readonly env: Environment;
  readonly signal: AbortSignal;
  readonly redact: (text: string) => string;
}

/** Starts a program with the message as JSON on its standard input. Exit code 0 means that the message has arrived. */
export function runCommand(
  { command, env: names }: CommandChannel,
  { id, at, kind, subject, text, link, data }: Message,
  { env, signal, redact }: Sending,
): Promise<string | null> {
  const [program = "", ...args] = command;
  const variables = Object.fromEntries(
    [...USUAL, ...names].flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])),
  );
  return new Promise((resolve) => {
    // The program gets its own process group, so that processes it has started end with it.
    const child = spawn(program, args, {
      ...{ stdio: ["pipe", "ignore", "pipe"], detached: true, cwd: "/" },
      env: { ...variables, DARUMA_MESSAGE_ID: id, DARUMA_MESSAGE_KIND: kind, DARUMA_SUBJECT: subject },
    });
    const kill = (): void => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
      } catch {
        // The process has already ended.
      }
    };
    let said = "";
    const end = (failure: string | null): void => {
      signal.removeEventListener("abort", kill);
      kill();
      child.stderr?.destroy();
      resolve(failure);
    };
    child.stderr?.on("data", (chunk: Buffer) => {
      said = (said + chunk.toString("utf8")).slice(-MAX_HEARD_CHARS);
    });
    child.on("error", (error: NodeJS.ErrnoException) => end(`${program} cannot be started: ${error.code}`));
    child.on("exit", (code, by) => {
      if (code === 0) return end(null);
      const why = oneLine(redact(said).slice(-MAX_STDERR_CHARS), MAX_REASON_CHARS);
      const how = signal.aborted
        ? "was ended after its time limit"
        : by === null
          ? `ended with ${code}`
          : `was ended by ${by}`;
      end(`${program} ${how}${why === "" ? "" : `: ${why}`}`);
    });
    // Ignored: a program need not read its input.
    child.stdin?.on("error", () => {});
    child.stdin?.end(
      `${JSON.stringify({ id, kind, at: new Date(at).toISOString(), subject, text, link, ...data })}\n`,
    );
    if (signal.aborted) kill();
    else signal.addEventListener("abort", kill, { once: true });
  });
}
