import { createHmac } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SMTPServer } from "smtp-server";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { runCli } from "../support/cli.js";
import { DarumaProcess, eventually, untilReady } from "../support/daruma-process.js";
import { freePort } from "../support/free-port.js";

const KEY = Buffer.alloc(32, 9);
const ENV = { OPS_KEY: `whsec_${KEY.toString("base64")}` };
const folder = mkdtempSync(join(tmpdir(), "daruma-notify-"));

interface Hook {
  readonly id: string;
  readonly type: string;
  readonly data: { readonly [field: string]: unknown };
  readonly isSigned: boolean;
}

/** Takes messages; while it hangs, it takes them and never answers. */
class Receiver {
  readonly hooks: Hook[] = [];
  hangs = false;
  private readonly http: Server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => {
      body += chunk.toString("utf8");
    });
    request.on("end", () => this.take(request.headers as { [name: string]: string }, body, response));
  });

  private take(headers: { readonly [name: string]: string }, body: string, response: ServerResponse): void {
    const [id = "", at = ""] = [headers["webhook-id"], headers["webhook-timestamp"]];
    const signature = createHmac("sha256", KEY).update(`${id}.${at}.${body}`).digest("base64");
    const { type, data } = JSON.parse(body) as Pick<Hook, "type" | "data">;
    this.hooks.push({ id, type, data, isSigned: headers["webhook-signature"] === `v1,${signature}` });
    if (!this.hangs) response.writeHead(204).end();
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.http.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.http.address() as AddressInfo).port}/hook`;
  }

  async close(): Promise<void> {
    this.http.closeAllConnections();
    await new Promise((resolve) => this.http.close(resolve));
  }
}

let receiver: Receiver;
let config: string;
const servers: DarumaProcess[] = [];

beforeAll(async () => {
  receiver = new Receiver();
  const url = await receiver.listen();
  config = join(folder, "daruma.config.yaml");
  writeFileSync(
    config,
    `channels:
  ops: { type: webhook, url: ${url}, secret: OPS_KEY, timeout: 60s }
notify:
  - { on: [held, failed, recovered], to: ops }
`,
  );
});
afterEach(async () => {
  receiver.hooks.length = 0;
  receiver.hangs = false;
  for (const server of servers.splice(0)) await server.kill();
});
afterAll(async () => {
  await receiver.close();
  rmSync(folder, { recursive: true, force: true });
});

function write(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

const daruma = (out: string, ...args: string[]) =>
  runCli([...args, "--config", config, "--output-dir", join(folder, out)], ENV);

describe("daruma run --config", () => {
  it("tells of its own run before it ends, once, and that the step works again", {
    tags: ["N12"],
    timeout: 300_000,
  }, async () => {
    const flag = join(folder, "works");
    const file = write(
      "flow.yaml",
      `name: nightly\nsteps:\n  build: { exec: "test -f ${flag} || { echo boom: no disk >&2; exit 3; }" }\n`,
    );
    expect((await daruma("run", "run", file)).exitCode).toBe(1);
    expect(receiver.hooks).toHaveLength(1);
    expect(receiver.hooks[0]).toMatchObject({
      ...{ type: "daruma.failed", isSigned: true },
      data: {
        ...{ workflow: "nightly", run_id: 1, step: "build", told_as: "first", count: 1 },
        failure: { code: "EXIT_3", lines: ["boom: no disk"] },
        subject: "nightly: run 1 failed at build (boom: no disk)",
      },
    });
    expect((await daruma("run", "run", file)).exitCode).toBe(1);
    expect(receiver.hooks).toHaveLength(1);
    writeFileSync(flag, "");
    expect((await daruma("run", "run", file)).exitCode).toBe(0);
    expect(receiver.hooks.map(({ type }) => type)).toEqual(["daruma.failed", "daruma.recovered"]);
    const { stdout } = await daruma("run", "notifications", "--json");
    const { items } = JSON.parse(stdout) as { items: { kind: string; state: string; told_as: string }[] };
    expect(items.map(({ kind, state, told_as }) => `${kind} ${state} ${told_as}`)).toEqual([
      "recovered delivered recovered",
      "failed delivered first",
    ]);
    expect((await daruma("run", "notifications")).stdout).toMatch(
      /ops +failed +delivered +1 +nightly: run 1 failed/,
    );
  });

  it("leaves what it has to tell in the store where no settings are wanted", {
    tags: ["N12"],
    timeout: 300_000,
  }, async () => {
    const file = write(
      "left.yaml",
      "name: left\nnotify: [{ on: failed, to: ops }]\nsteps: { a: { exec: exit 1 } }\n",
    );
    const out = join(folder, "left");
    expect((await runCli(["run", file, "--no-config", "--output-dir", out])).exitCode).toBe(1);
    const { stdout } = await runCli(["notifications", "--json", "--output-dir", out]);
    expect(JSON.parse(stdout)).toMatchObject({ items: [{ kind: "failed", channel: "ops", state: "new" }] });
    const other = write(
      "other.yaml",
      "name: other\nnotify: [{ on: failed, to: nobody }]\nsteps: { a: { exec: exit 1 } }\n",
    );
    expect((await daruma("other", "run", other)).stderr).toContain(
      "other notifies the channel nobody, which the settings do not define: its messages wait for a process that has it\n",
    );
  });
});

describe("daruma notifications test", () => {
  it("says whether a message arrives, by webhook and by mail", {
    tags: ["N12"],
    timeout: 300_000,
  }, async () => {
    expect(await daruma("test", "notifications", "test", "ops")).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/^channel ops \(webhook, 127\.0\.0\.1:\d+\): a test message was sent\n$/),
    });
    expect(receiver.hooks).toMatchObject([{ type: "daruma.test", isSigned: true }]);
    expect((await daruma("test", "notifications", "test", "opps")).stderr).toBe(
      "error UNKNOWN_CHANNEL: there is no channel opps\nhint: Channels: ops.\n",
    );
    const mails: string[] = [];
    const smtp = new SMTPServer({
      ...{ authOptional: true, disabledCommands: ["STARTTLS", "AUTH"], logger: false, closeTimeout: 100 },
      onData(stream, _session, done) {
        let text = "";
        stream.on("data", (chunk: Buffer) => {
          text += chunk.toString("utf8");
        });
        stream.on("end", () => {
          mails.push(text);
          done();
        });
      },
    });
    await new Promise<void>((resolve) => smtp.listen(0, "127.0.0.1", resolve));
    const { port } = smtp.server.address() as AddressInfo;
    const mail = write(
      "mail.config.yaml",
      `channels: { mail: { type: email, host: 127.0.0.1, port: ${port}, tls: none, from: a@b.example, to: c@d.example } }\n`,
    );
    const args = ["notifications", "test", "mail", "--config", mail, "--output-dir", join(folder, "test")];
    expect(await runCli(args)).toMatchObject({ exitCode: 0, stderr: "" });
    expect(mails.join()).toContain("Subject: [daruma] Test of the channel mail\r\n");
    await new Promise<void>((resolve) => smtp.close(() => resolve()));
    const failed = await runCli(args);
    expect(failed.stderr).toContain(
      "error CHANNEL_FAILED: channel mail: the mail server cannot be reached: ESOCKET\n",
    );
    expect(failed.exitCode).toBe(2);
  });
});

describe("a server", () => {
  it("that is killed while it sends loses nothing: the next one sends it, under the same id", {
    tags: ["N8"],
    timeout: 300_000,
  }, async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const serve = async (): Promise<DarumaProcess> => {
      const place = ["--port", String(port), "--output-dir", join(folder, "served"), "--config", config];
      const server = new DarumaProcess("server", ["serve", ...place], ENV);
      server.start();
      servers.push(server);
      await untilReady(url, server);
      return server;
    };
    const first = await serve();
    receiver.hangs = true;
    const source = "name: deploy\nunhandled: hold\nsteps: { ship: { exec: echo no route >&2; exit 4 } }\n";
    const started = await fetch(`${url}/api/v1/runs`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ source, folder }),
    });
    expect(started.ok).toBe(true);
    await eventually("the first message", () => receiver.hooks.length > 0);
    await first.kill();
    const [{ id }] = receiver.hooks as [Hook];
    receiver.hangs = false;
    await serve();
    await eventually("the second message", () => receiver.hooks.length > 1);
    const listed = async () =>
      (await (await fetch(`${url}/api/v1/notifications`)).json()) as {
        items: { state: string; id: string }[];
      };
    const done = await eventually("its delivery", async () => {
      const { items } = await listed();
      return items.every(({ state }) => state === "delivered") ? items : null;
    });
    expect(done.map((item) => item.id)).toEqual([id]);
    expect(receiver.hooks.map((hook) => [hook.id, hook.type, hook.isSigned])).toEqual(
      Array(2).fill([id, "daruma.held", true]),
    );
    expect(receiver.hooks[1]!.data).toMatchObject({
      link: `${url}/#/runs/1/ship`,
      commands: expect.arrayContaining(["daruma resolve 1 ship --retry"]),
    });
  });
});
