import type { AddressInfo } from "node:net";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import { afterEach, describe, expect, it } from "vitest";
import type { Message } from "../../core/notices/notice.js";
import type { EmailChannel } from "../../file/settings/channels.js";
import { sendMessage } from "./send-message.js";

const MESSAGE: Message = {
  ...{ id: "msg_0123456789abcdef0123456789abcdef", at: Date.UTC(2026, 0, 5), kind: "held" },
  ...{ subject: "ci: test is held", text: "Step test failed.\n\n  | だるま", link: null, data: {} },
};

let server: SMTPServer | null = null;
let mails: { readonly from: string; readonly to: string[]; readonly text: string }[] = [];

afterEach(async () => {
  mails = [];
  await new Promise<void>((resolve) => (server === null ? resolve() : server.close(() => resolve())));
  server = null;
});

async function listen(options: SMTPServerOptions = {}): Promise<number> {
  server = new SMTPServer({
    ...{ authOptional: true, disabledCommands: ["STARTTLS"], logger: false, closeTimeout: 100 },
    onData(stream, { envelope }, done) {
      let text = "";
      stream.on("data", (chunk: Buffer) => {
        text += chunk.toString("utf8");
      });
      stream.on("end", () => {
        const from = envelope.mailFrom === false ? "" : envelope.mailFrom.address;
        mails.push({ from, to: envelope.rcptTo.map(({ address }) => address), text });
        done();
      });
    },
    ...options,
  });
  server.on("error", () => {});
  await new Promise<void>((resolve) => server!.listen(0, "127.0.0.1", resolve));
  return (server.server.address() as AddressInfo).port;
}

function channel(port: number, changes: Partial<EmailChannel> = {}): EmailChannel {
  return {
    ...{ name: "mail", type: "email", host: "127.0.0.1", port, tls: "none", user: null, secret: null },
    ...{ from: "Daruma <daruma@example.com>", to: ["ana@example.com", "bo@example.com"], timeoutMs: 20_000 },
    ...changes,
  };
}

const send = (given: EmailChannel, env: { [name: string]: string } = {}) =>
  sendMessage(given, MESSAGE, { env, now: Date.now });

describe("email", () => {
  it("goes to all receivers by SMTP, the same message however often it is sent", {
    tags: ["N10"],
  }, async () => {
    const port = await listen();
    expect([await send(channel(port)), await send(channel(port))]).toEqual([null, null]);
    const [mail, again] = mails as [(typeof mails)[0], (typeof mails)[0]];
    expect([mail.from, mail.to]).toEqual(["daruma@example.com", ["ana@example.com", "bo@example.com"]]);
    expect(mail.text).toContain("Subject: [daruma] ci: test is held\r\n");
    expect(mail.text).toContain("Auto-Submitted: auto-generated\r\n");
    expect(mail.text).toContain("=E3=81=A0");
    const idOf = (text: string) => /^Message-ID: (.*)\r$/m.exec(text)?.[1];
    expect([idOf(mail.text), idOf(again.text)]).toEqual(Array(2).fill(`<${MESSAGE.id}@example.com>`));
  });

  it("logs in with the password that its secret names, and says nothing of a wrong one", {
    tags: ["N10"],
  }, async () => {
    const port = await listen({
      authOptional: false,
      allowInsecureAuth: true,
      onAuth: ({ username, password }, _, done) =>
        password === "opensesame" ? done(null, { user: username }) : done(new Error(`no: ${password}`)),
    });
    const given = channel(port, { user: "daruma", secret: { variable: "PASSWORD" } });
    expect(await send(given, { PASSWORD: "opensesame" })).toBeNull();
    const failure = await send(given, { PASSWORD: "opensaysme" });
    expect(failure).toBe("the mail server refused the user or password (535)");
    expect(await send(given)).toBe("the variable PASSWORD is empty or missing");
    expect(mails).toHaveLength(1);
  });

  it("says what a server said that does not take it, and that nobody is there", {
    tags: ["N10"],
  }, async () => {
    const port = await listen({
      onRcptTo: (_address, _session, done) =>
        done(Object.assign(new Error("mailbox is full"), { responseCode: 452 })),
    });
    expect(await send(channel(port))).toContain("the mail server answered 452 mailbox is full");
    expect(await send(channel(1))).toBe("the mail server cannot be reached: ESOCKET");
  });

  it("ends with its time where the server says nothing", { tags: ["N10"] }, async () => {
    const port = await listen({ onConnect: () => {} });
    expect(await send(channel(port, { timeoutMs: 300 }))).toBe("the mail server gave no answer in time");
  });

  it("is not sent without encryption where that is asked for", { tags: ["N10"] }, async () => {
    const port = await listen();
    const failure = await send(channel(port, { tls: "starttls" }));
    expect(failure).not.toBeNull();
    expect(mails).toEqual([]);
  });
});
