// Written by hand: one line of text per number. A package would add a queue and timers that a run must not wait for.
import { createSocket, type Socket } from "node:dgram";
import { DarumaError } from "../../core/errors/errors.js";
import { type Measurement, SERIES } from "./measurement.js";

/** Size limit of a datagram. One that fits into an Ethernet frame is not split on its way. */
const MAX_DATAGRAM_BYTES = 1_432;
const FLUSH_MS = 1_000;
const DEFAULT_PORT = 8125;

/** Sends measurements by UDP in the DogStatsD form (tags after `|#`). Fire and forget. */
export class StatsdClient {
  private readonly socket: Socket;
  private lines: string[] = [];
  private bytes = 0;
  private readonly timer: NodeJS.Timeout;

  constructor(private readonly target: { readonly host: string; readonly port: number }) {
    this.socket = createSocket(target.host.includes(":") ? "udp6" : "udp4");
    this.socket.on("error", () => {});
    this.socket.unref();
    this.timer = setInterval(() => this.flush(), FLUSH_MS);
    this.timer.unref();
  }

  send({ name, value, labels }: Measurement): void {
    // A StatsD timer counts in milliseconds; a histogram keeps the seconds that the name promises.
    const kind = SERIES[name].kind === "counter" ? "c" : "h";
    const tags = Object.entries(labels).map(([label, text]) => `${label}:${text}`);
    const line = `${name}:${value}|${kind}${tags.length === 0 ? "" : `|#${tags.join(",")}`}`;
    const size = Buffer.byteLength(line) + 1;
    if (this.bytes + size > MAX_DATAGRAM_BYTES) this.flush();
    this.lines.push(line);
    this.bytes += size;
  }

  flush(): Promise<void> {
    if (this.lines.length === 0) return Promise.resolve();
    const datagram = this.lines.join("\n");
    this.lines = [];
    this.bytes = 0;
    return new Promise((resolve) =>
      this.socket.send(datagram, this.target.port, this.target.host, () => resolve()),
    );
  }

  async close(): Promise<void> {
    clearInterval(this.timer);
    await this.flush();
    this.socket.close();
  }
}

/** Parses `host`, `host:port` or `[::1]:8125`. */
export function parseStatsdAddress(text: string): { readonly host: string; readonly port: number } {
  const match = /^(?:udp:\/\/)?(\[[0-9a-fA-F:]+\]|[^:/\s]+)(?::(\d{1,5}))?$/.exec(text.trim());
  const port = Number(match?.[2] ?? DEFAULT_PORT);
  if (match === null || port < 1 || port > 65_535)
    throw new DarumaError("USAGE", `DARUMA_STATSD=${text}: this is no address`, {
      hint: "Give it as host:port, such as 127.0.0.1:8125.",
    });
  return { host: match[1]!.replace(/^\[|\]$/g, ""), port };
}
