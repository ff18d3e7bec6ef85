import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { LiveWorker } from "../../../test/support/live-worker.js";
import { assignment, JOB } from "../../../test/support/pool-bench.js";

const TERMS = { worker_id: "w", lease_ms: 600_000, heartbeat_ms: 200_000, kill_margin_ms: 10_000 };
const NOTHING = { renewed: [], stop: [], lost: [], over: [], control: {} };

interface Asked {
  readonly body: Record<string, unknown>;
  answer(body: object): void;
  /** The connection breaks. */
  drop(): void;
}

/** A server that answers each request when the test says so. */
class ScriptedServer {
  private readonly asked: { readonly what: string; readonly request: Asked }[] = [];
  private wake = (): void => {};
  private readonly server: Server = createServer((request, response) => this.take(request, response));

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** The next request to this path; others wait for their turn. */
  async next(what: string): Promise<Asked> {
    for (;;) {
      const at = this.asked.findIndex((one) => one.what === what);
      if (at >= 0) return this.asked.splice(at, 1)[0]!.request;
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  private take(request: IncomingMessage, response: ServerResponse): void {
    let text = "";
    request.on("data", (piece: Buffer) => {
      text += piece.toString();
    });
    request.on("end", () => {
      this.asked.push({
        what: request.url!.split("/").at(-1)!,
        request: {
          body: JSON.parse(text === "" ? "{}" : text) as Record<string, unknown>,
          answer: (body) => void response.end(JSON.stringify(body)),
          drop: () => request.socket.destroy(),
        },
      });
      this.wake();
    });
  }
}

describe("a worker that has registered again", () => {
  let folder = "";
  let server = new ScriptedServer();
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "daruma-late-"));
    server = new ScriptedServer();
  });
  let worker: LiveWorker | null = null;
  afterEach(async () => {
    server.close();
    await worker?.end();
    rmSync(folder, { recursive: true, force: true });
  });

  it("begins nothing that an answer from before brings: it is given that again", async () => {
    const ran = join(folder, "ran");
    const job = (n: number) =>
      assignment({
        token: `t${n}`,
        jobId: JOB + n,
        action: { type: "command", exec: `echo ${n} >> ${ran}` },
      });
    const registered = (session: string) => ({ ...TERMS, ...NOTHING, session });
    const giving = (...numbers: number[]) => ({ assignments: numbers.map(job), stop: [] });
    const accepting = ({ body }: Asked) => ({
      results: (body.reports as { token: string }[]).map(({ token }) => ({ token, outcome: "accepted" })),
    });
    const acceptUntil = async (n: number): Promise<void> => {
      for (let isThere = false; !isThere; ) {
        const asked = await server.next("reports");
        const answer = { ...accepting(asked), ...giving() };
        isThere = answer.results.some(({ token }) => token === `t${n}`);
        asked.answer(answer);
      }
    };
    worker = new LiveWorker(folder, { servers: [await server.listen()], slots: 1 });
    (await server.next("workers")).answer(registered("s1"));
    const first = await server.next("claim");
    expect(first.body.session).toBe("s1");
    first.answer(giving(1));
    const late = await server.next("reports");
    expect(late.body.session).toBe("s1");
    (await server.next("claim")).drop();
    const again = await server.next("workers");
    expect(again.body.attempts).toMatchObject([{ token: "t1" }]);
    again.answer(registered("s2"));
    // The answer was under way before, and took its time.
    late.answer({ ...accepting(late), ...giving(2) });
    const claim = await server.next("claim");
    expect(claim.body.session).toBe("s2");
    claim.answer(giving(3));
    await acceptUntil(3);
    (await server.next("claim")).answer(giving(2));
    await acceptUntil(2);
    (await server.next("claim")).answer(giving(4));
    await acceptUntil(4);
    expect(readFileSync(ran, "utf8")).toBe("1\n3\n2\n4\n");
  });
});
