/** How long processes that outlive the main one may take to end by themselves, such as the `tee` behind `exec > >(tee log)`. */
export const LEFTOVER_DRAIN_MS = 250;
/** Between the SIGTERM and the SIGKILL to such processes. */
export const LEFTOVER_GRACE_MS = 500;
/** A killed process can hang in the kernel (a dead network disk): the attempt does not wait for it for ever. */
const UNKILLABLE_MS = 10_000;

/** What can be done to a process group, whichever process started it. */
export interface GroupControl {
  signal(name: "SIGTERM" | "SIGKILL"): void;
  /** Report the end although the group is still there. */
  abandon(): void;
}

/** Decides when a process group gets which signal; the same rules for every host. */
export class GroupEnding {
  private timer: NodeJS.Timeout | null = null;
  private killAt = Number.POSITIVE_INFINITY;
  private isOver = false;

  constructor(private readonly control: GroupControl) {}

  /** Whether a signal has been sent. */
  get hasBegun(): boolean {
    return this.killAt !== Number.POSITIVE_INFINITY;
  }

  terminate(graceMs: number): void {
    if (this.isOver) return;
    const killAt = performance.now() + graceMs;
    if (graceMs <= 0) {
      this.kill();
    } else if (killAt < this.killAt) {
      this.killAt = killAt;
      this.control.signal("SIGTERM");
      this.schedule(() => this.kill(), graceMs);
    }
  }

  /** The main process has gone, others of its group have not. */
  leftBehind(): void {
    if (this.isOver || this.hasBegun) return;
    this.schedule(() => this.terminate(LEFTOVER_GRACE_MS), LEFTOVER_DRAIN_MS);
  }

  ended(): void {
    this.isOver = true;
    if (this.timer !== null) clearTimeout(this.timer);
  }

  private kill(): void {
    this.killAt = Number.NEGATIVE_INFINITY;
    this.control.signal("SIGKILL");
    this.schedule(() => this.control.abandon(), UNKILLABLE_MS);
  }

  private schedule(act: () => void, delayMs: number): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = setTimeout(act, delayMs);
  }
}
