import type { Json } from "../core/text/json.js";
import { messageOf } from "../core/text/message-of.js";

interface Variables {
  readonly [name: string]: Json;
}

/**
 * The outputs that a function of the program may read: put together when it reads them, since most functions of a long
 * chain read none, and each has all steps before it. They are as they were when its attempt began: `keep` them before
 * the run changes.
 */
export class LaterOutputs {
  private kept: { readonly outputs: Json } | { readonly error: Error } | null = null;

  constructor(
    readonly jobId: number,
    readonly attempt: number,
    private readonly read: () => Json,
  ) {}

  keep(): void {
    if (this.kept !== null) return;
    try {
      this.kept = { outputs: this.read() };
    } catch (error) {
      this.kept = { error: unreadable(error) };
    }
  }

  get outputs(): Json {
    this.keep();
    if (this.kept !== null && "outputs" in this.kept) return this.kept.outputs;
    throw this.kept?.error;
  }

  /** The variables with these outputs; once they are read, plain data like the others. */
  amongst(variables: Variables): Variables {
    return addReadLater({ ...variables }, "outputs", () => this.outputs);
  }
}

/** A property that is read when somebody first looks at it, and from then on is one like any other. */
export function addReadLater(
  owner: { [name: string]: Json },
  name: string,
  read: () => Json,
): { [name: string]: Json } {
  const shape = { enumerable: true, configurable: true };
  const become = (value: Json) => {
    Object.defineProperty(owner, name, { ...shape, writable: true, value });
    return value;
  };
  return Object.defineProperty(owner, name, { ...shape, get: () => become(read()), set: become });
}

/** Where it cannot be read, the step that wants it fails with the right code. */
export function readOutput(path: string, read: (path: string) => Json): Json {
  try {
    return read(path);
  } catch (error) {
    throw unreadable(error);
  }
}

function unreadable(error: unknown): Error {
  const message = `what the step needs cannot be read: ${messageOf(error)}`;
  return Object.assign(new Error(message, { cause: error }), { code: "ARTIFACT_MISSING" });
}
