import { createHmac } from "node:crypto";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Message } from "../../core/notices/notice.js";
import type { ChannelSettings, WebhookChannel } from "../../file/settings/channels.js";
import { sendMessage } from "./send-message.js";

const KEY = Buffer.alloc(32, 7);
const ENV = {
  KEY: `whsec_${KEY.toString("base64")}`,
  PATH: process.env.PATH,
  HOME: "/nowhere",
  TOKEN: "xyzzy-plugh",
};
const NOW = Date.UTC(2026, 0, 5, 12);
const MESSAGE: Message = {
  ...{ id: "msg_0123456789abcdef0123456789abcdef", at: NOW, kind: "held" },
  ...{
    subject: "ci: test is held",
    text: "だるま\nfailed <!channel> & ```",
    link: "http://server/#/runs/1/test",
  },
  data: { id: "msg_0123456789abcdef0123456789abcdef", run_id: 1, lines: ["a", "b"] },
};

interface Seen {
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

let server: Server;
let seen: Seen[] = [];
let answer: (request: IncomingMessage, response: ServerResponse) => void;
const folder = mkdtempSync(join(tmpdir(), "daruma-channels-"));

beforeAll(async () => {
  server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => {
      body += chunk.toString("utf8");
    });
    request.on("end", () => {
      seen.push({ url: request.url ?? "", headers: request.headers, body });
      answer(request, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterEach(() => {
  seen = [];
  // Also closes connections that were never answered.
  server.closeAllConnections();
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  rmSync(folder, { recursive: true, force: true });
});

const address = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
const webhook = (changes: Partial<WebhookChannel> = {}): WebhookChannel => ({
  ...{ name: "ops", type: "webhook", url: address(), secret: { variable: "KEY" }, timeoutMs: 20_000 },
  ...changes,
});
const send = (channel: ChannelSettings, message = MESSAGE, env: typeof ENV | object = ENV) =>
  sendMessage(channel, message, { env: env as typeof ENV, now: () => NOW });

describe("a webhook", () => {
  it("is signed as Standard Webhooks has it, over the bytes that are sent", { tags: ["N10"] }, async () => {
    answer = (_, response) => response.writeHead(204).end();
    expect(await send(webhook())).toBeNull();
    const [{ headers, body }] = seen as [Seen];
    const signed = `${MESSAGE.id}.${NOW / 1_000}.${body}`;
    expect(headers).toMatchObject({
      "content-type": "application/json",
      "webhook-id": MESSAGE.id,
      "webhook-timestamp": String(NOW / 1_000),
      "webhook-signature": `v1,${createHmac("sha256", KEY).update(signed).digest("base64")}`,
    });
    expect(JSON.parse(body)).toEqual({
      type: "daruma.held",
      timestamp: "2026-01-05T12:00:00.000Z",
      data: { ...MESSAGE.data, subject: MESSAGE.subject, text: MESSAGE.text },
    });
  });

  it("does not follow a redirect", { tags: ["N10"] }, async () => {
    answer = (_, response) => response.writeHead(307, { location: `${address()}/elsewhere` }).end();
    expect(await send(webhook())).toBe("it answered 307 with a redirect, which is not followed");
    expect(seen.map(({ url }) => url)).toEqual(["/hook"]);
  });

  it("ends with its time where nobody answers", { tags: ["N10"] }, async () => {
    answer = () => {};
    expect(await send(webhook({ timeoutMs: 200 }))).toBe("it gave no answer in time");
  });

  it("reads no more of an endless answer than a person would", { tags: ["N10"] }, async () => {
    answer = (_, response) => {
      response.writeHead(500);
      const more = (): boolean => response.write("no ".repeat(10_000));
      response.on("drain", more);
      more();
    };
    const failure = await send(webhook());
    expect(failure).toMatch(/^it answered 500: no no/);
    expect(failure!.length).toBeLessThan(300);
  });

  it("says why it did not arrive, without its secret", { tags: ["N10"] }, async () => {
    answer = (_, response) => response.writeHead(401).end(`wrong key ${ENV.KEY}`);
    expect(await send(webhook())).toBe("it answered 401: wrong key [redacted:the variable KEY]");
    expect(await send(webhook({ url: "http://127.0.0.1:1/" }))).toBe("ECONNREFUSED");
    expect(await send(webhook(), MESSAGE, {})).toBe("the variable KEY is empty or missing");
    expect(await send(webhook(), MESSAGE, { KEY: "swordfish" })).toBe(
      "the variable KEY is no key of Standard Webhooks",
    );
  });

  it("does not show the beginning of its secret where the answer is cut short", {
    tags: ["N10"],
  }, async () => {
    answer = (_, response) => response.writeHead(500).end(`${"x".repeat(190)}${ENV.KEY}`);
    const failure = await send(webhook());
    expect(failure).toMatch(/^it answered 500: x+/);
    expect(failure).not.toContain("whsec");
  });

  it("holds nothing that looks like a secret, nor the channel's own", { tags: ["N10"] }, async () => {
    answer = (_, response) => response.writeHead(200).end();
    const token = `ghp_${"a1B2".repeat(9)}`;
    const text = `token ${token}, key ${ENV.KEY}`;
    await send(webhook(), { ...MESSAGE, subject: text, text, data: { id: MESSAGE.id, lines: [text] } });
    const [{ body, headers }] = seen as [Seen];
    expect(body).not.toContain(token);
    expect(body).not.toContain(ENV.KEY);
    expect([headers["webhook-id"], JSON.parse(body).data.id]).toEqual([MESSAGE.id, MESSAGE.id]);
  });
});

describe("Slack", () => {
  it("gets a title with a link, and the text as it is: it mentions nobody and ends no block", {
    tags: ["N10"],
  }, async () => {
    answer = (_, response) => response.writeHead(200).end("ok");
    const channel: ChannelSettings = {
      name: "chat",
      type: "slack",
      secret: { variable: "URL" },
      timeoutMs: 20_000,
    };
    expect(await send(channel, MESSAGE, { URL: address() })).toBeNull();
    expect(JSON.parse(seen[0]!.body)).toEqual({
      text: "ci: test is held",
      blocks: [
        {
          type: "section",
          text: { type: "mrkdwn", text: "*ci: test is held*\n<http://server/#/runs/1/test|Open in Daruma>" },
        },
        {
          type: "section",
          text: { type: "mrkdwn", text: "```だるま\nfailed &lt;!channel&gt; &amp; '''```" },
        },
      ],
    });
    const huge = { ...MESSAGE, text: "x".repeat(50_000) };
    await send(channel, huge, { URL: address() });
    expect(JSON.parse(seen[1]!.body).blocks[1].text.text.length).toBeLessThan(3_000);
  });
});

describe("a command", () => {
  const channel = (command: readonly string[], timeoutMs = 20_000): ChannelSettings => ({
    ...{ name: "pager", type: "command", command, env: ["TOKEN"], timeoutMs },
  });
  const script = (name: string, text: string): string => {
    const file = join(folder, name);
    writeFileSync(file, `#!/bin/sh\n${text}\n`);
    chmodSync(file, 0o755);
    return file;
  };

  it("gets the message on standard input, its arguments as they are, and only the variables that it names", {
    tags: ["N10"],
  }, async () => {
    const out = join(folder, "out");
    const file = script(
      "page",
      `cat > ${out}; printf '%s|' "$1" "$DARUMA_MESSAGE_ID" "$TOKEN" "$KEY" >> ${out}`,
    );
    expect(await send(channel([file, "$(echo no) ; `no`"]))).toBeNull();
    const [line, rest] = readFileSync(out, "utf8").split("\n") as [string, string];
    expect(JSON.parse(line)).toMatchObject({
      kind: "held",
      subject: MESSAGE.subject,
      run_id: 1,
      link: MESSAGE.link,
    });
    expect(rest).toBe(`$(echo no) ; \`no\`|${MESSAGE.id}|${ENV.TOKEN}||`);
  });

  it("says why it failed without the variables that it was given, also where the reason is cut short", {
    tags: ["N10"],
  }, async () => {
    const says = (name: string, before: number): string =>
      script(name, `head -c ${before} /dev/zero | tr '\\0' x >&2; echo " token $TOKEN" >&2; exit 3`);
    const short = says("short", 0);
    expect(await send(channel([short]))).toBe(`${short} ended with 3: token [redacted:TOKEN]`);
    // Each cut would leave a few characters of the secret.
    for (const before of [186, 1_994, 3_000])
      expect(await send(channel([says(`long-${before}`, before)]))).not.toMatch(/xyz|ugh/);
  });

  it("has failed where it ends otherwise than with 0, cannot be started or takes too long", {
    tags: ["N10"],
  }, async () => {
    const broken = script("broken", "echo no such pager >&2; exit 3");
    expect(await send(channel([broken]))).toBe(`${broken} ended with 3: no such pager`);
    expect(await send(channel([join(folder, "missing")]))).toBe(
      `${join(folder, "missing")} cannot be started: ENOENT`,
    );
    const started = join(folder, "started");
    const slow = script("slow", `sleep 300 & echo $! > ${started}; wait`);
    expect(await send(channel([slow], 500))).toBe(`${slow} was ended after its time limit`);
    // Processes that the program has started end with it.
    const child = Number(readFileSync(started, "utf8"));
    await expect.poll(() => isAlive(child)).toBe(false);
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch {
    return false;
  }
}
