import { spawn } from "node:child_process";
import type { Message } from "../core/notify/message.js";
import { oneLine } from "../core/text/plain-text.js";
import type { CommandChannel } from "../settings/channels.js";
import type { Environment } from "./find-secret.js";

/** What a program needs to run at all. */
const USUAL = ["PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "SHELL"];
const MAX_STDERR_CHARS = 2_000;
/** So that no secret is cut before it is hidden. */
const MAX_HEARD_CHARS = 20_000;
const MAX_REASON_CHARS = 200;

interface Sending {
  readonly env: Environment;
  readonly signal: AbortSignal;
  readonly redact: (text: string) => string;
}

/** The message is JSON on its standard input. It has arrived where the program ends with 0. */
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
    // A group of its own, so that what it has started ends with it.
    const child = spawn(program, args, {
      ...{ stdio: ["pipe", "ignore", "pipe"], detached: true, cwd: "/" },
      env: { ...variables, DARUMA_MESSAGE_ID: id, DARUMA_MESSAGE_KIND: kind, DARUMA_SUBJECT: subject },
    });
    const kill = (): void => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
      } catch {
        // It is gone already.
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
    // A program that does not read it is none of our business.
    child.stdin?.on("error", () => {});
    child.stdin?.end(
      `${JSON.stringify({ id, kind, at: new Date(at).toISOString(), subject, text, link, ...data })}\n`,
    );
    if (signal.aborted) kill();
    else signal.addEventListener("abort", kill, { once: true });
  });
}
