import { type ChildProcess, spawn } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { commandLine } from "./cli.js";
import { HANG_MS } from "./hang.js";

const POLL_MS = 50;

/** One `daruma serve` or `daruma worker` that can be killed and started again as often as a test likes. */
export class DarumaProcess {
  private child: ChildProcess | null = null;
  private gone: Promise<void> = Promise.resolve();
  /** What it has printed, both streams, over all its lives. */
  output = "";

  constructor(
    readonly name: string,
    private readonly args: readonly string[],
    private readonly env: { readonly [name: string]: string } = {},
  ) {}

  get pid(): number {
    return this.child?.pid ?? 0;
  }

  get isRunning(): boolean {
    return this.child !== null && this.child.exitCode === null && this.child.signalCode === null;
  }

  start(): void {
    if (this.isRunning) throw new Error(`${this.name} runs already`);
    const child = spawn(process.execPath, [commandLine, ...this.args], {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, ...this.env },
    });
    const keep = (chunk: Buffer): void => {
      this.output += chunk.toString();
    };
    child.stdout.on("data", keep);
    child.stderr.on("data", keep);
    this.child = child;
    this.gone = new Promise((resolve) => child.once("exit", () => resolve()));
  }

  signal(name: NodeJS.Signals): void {
    if (this.isRunning) this.child?.kill(name);
  }

  /** The exit code once it has gone; null if a signal ended it. */
  async ended(): Promise<number | null> {
    await this.gone;
    return this.child?.exitCode ?? null;
  }

  async kill(): Promise<void> {
    this.signal("SIGKILL");
    await this.gone;
  }

  async stop(): Promise<number | null> {
    this.signal("SIGTERM");
    return this.ended();
  }
}

/** Resolves once the server answers that it is ready. */
export async function untilReady(url: string, server: DarumaProcess): Promise<void> {
  const deadline = Date.now() + HANG_MS;
  while (Date.now() < deadline) {
    const ready = await fetch(`${url}/readyz`).then(
      (response) => response.ok,
      () => false,
    );
    if (ready) return;
    if (!server.isRunning) throw new Error(`${server.name} has ended:\n${server.output}`);
    await delay(POLL_MS);
  }
  throw new Error(`${server.name} is not ready:\n${server.output}`);
}

/** Waits until `look` gives something other than null, undefined or false. */
export async function eventually<Found>(
  what: string,
  look: () => Promise<Found | null | undefined | false> | Found | null | undefined | false,
  deadlineMs = HANG_MS,
): Promise<Found> {
  const deadline = Date.now() + deadlineMs;
  for (;;) {
    const found = await look();
    if (found !== null && found !== undefined && found !== false) return found;
    if (Date.now() > deadline) throw new Error(`waited in vain for: ${what}`);
    await delay(POLL_MS);
  }
}
