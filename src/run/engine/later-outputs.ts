import type { Json } from "../../core/text/json.js";
import { messageOf } from "../../core/text/message-of.js";

interface Variables {
  readonly [name: string]: Json;
}

/**
 * The outputs that a program's function may read. They are collected only when it reads them, because most functions of
 * a long chain read none, and each has all earlier steps before it. They must be those of the attempt's start: call
 * `keep` before the run changes.
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

  /** The variables with these outputs, which are plain data once they are read. */
  amongst(variables: Variables): Variables {
    return addReadLater({ ...variables }, "outputs", () => this.outputs);
  }
}

/** Adds a property that is computed when it is first read, and is then like any other. */
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

/** Reads an output. If that fails, the step that wants it fails with the right code. */
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
