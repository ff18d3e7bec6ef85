import type { Channel } from "../terminal/channel.js";
import { textWidth } from "./columns.js";
import { shownLine } from "./paint.js";

const ERASE_BELOW = "\x1b[0J";

/** Lines at the bottom of the terminal that are redrawn, below lines that stay. */
export class LiveRegion {
  private shown: readonly string[] = [];

  constructor(private readonly channel: Channel) {}

  /**
   * Draws a frame in one write: it erases the old region, prints the permanent lines, and draws the new region below.
   */
  frame(permanent: readonly string[], region: readonly string[]): void {
    if (permanent.length === 0 && region.length === 0 && this.shown.length === 0) return;
    const text = [...permanent, ...region].map((line) => `${shownLine(line)}\n`).join("");
    this.channel.write(`${this.erase()}${text}`);
    this.shown = region;
  }

  /** Erases the region. The terminal may have become narrower since, so that a line takes several rows. */
  private erase(): string {
    if (this.shown.length === 0) return "";
    const width = Math.max(1, this.channel.width());
    const rows = this.shown.reduce((sum, line) => sum + Math.max(1, Math.ceil(textWidth(line) / width)), 0);
    return `\x1b[${Math.min(rows, this.channel.height() - 1)}A\r${ERASE_BELOW}`;
  }
}
