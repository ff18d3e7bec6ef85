import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { nameFinder } from "../../run/sandbox/names/find-names.js";
import { checkExpression } from "../../run/sandbox/wrap-code.js";
import { loadSettings } from "./load-settings.js";

const load = (text: string) =>
  loadSettings(text, "daruma.config.yaml", { checkExpression, findNames: nameFinder });

function problemsOf(text: string): string[] {
  const loaded = load(text);
  if (loaded.ok) throw new Error("it is valid");
  return loaded.problems.map(
    ({ line, column, code, message, hint }) => `${line}:${column} ${code} ${message} | ${hint}`,
  );
}

const HOOK = "channels:\n  ops: { type: webhook, url: https://a.example/x, secret: KEY }\n";

describe("the channels of the settings", () => {
  it("are read with their defaults", { tags: ["N13"] }, () => {
    const loaded = load(`
channels:
  ops: { type: webhook, url: https://a.example/x, secret: KEY }
  chat: { type: slack, secret: { file: /run/secrets/slack }, timeout: 30s }
  mail:
    type: email
    host: mail.example.com
    user: daruma
    secret: MAIL_PASSWORD
    from: Daruma <daruma@example.com>
    to: ops@example.com
  pager: { type: command, command: [/usr/local/bin/page, --loud], env: [PAGER_HOME] }
notify:
  - { on: held, to: ops }
  - { on: [failed, recovered, failed], to: [mail, chat], when: "notice.labels['team'] === 'core'" }
`);
    expect(loaded).toMatchObject({ ok: true, warnings: [] });
    const { channels, notify } = (loaded as Extract<typeof loaded, { ok: true }>).value;
    const timeoutMs = 10_000;
    expect(channels).toEqual([
      { name: "ops", type: "webhook", url: "https://a.example/x", secret: { variable: "KEY" }, timeoutMs },
      { name: "chat", type: "slack", secret: { file: "/run/secrets/slack" }, timeoutMs: 30_000 },
      {
        ...{ name: "mail", type: "email", host: "mail.example.com", port: 587, tls: "starttls" },
        ...{ user: "daruma", secret: { variable: "MAIL_PASSWORD" }, timeoutMs },
        ...{ from: "Daruma <daruma@example.com>", to: ["ops@example.com"] },
      },
      {
        ...{ name: "pager", type: "command", command: ["/usr/local/bin/page", "--loud"] },
        ...{ env: ["PAGER_HOME"], timeoutMs },
      },
    ]);
    expect(notify).toEqual([
      { on: ["held"], to: ["ops"], when: null },
      { on: ["failed", "recovered"], to: ["mail", "chat"], when: "notice.labels['team'] === 'core'" },
    ]);
  });

  it("are shown by an example that is right", { tags: ["N13"] }, () => {
    expect(load(readFileSync("examples/settings/daruma.config.yaml", "utf8"))).toMatchObject({
      ok: true,
      warnings: [],
    });
  });

  it.each<[string, string, string]>([
    [
      "a key of another type",
      "channels:\n  ops: { type: webhook, url: https://a.example/x, secret: KEY, host: mail }\n",
      "2:64 INVALID_VALUE a channel of type webhook has no `host` | Remove it. Keys of such a channel: type, url, secret, timeout.",
    ],
    [
      "a missing key",
      "channels:\n  ops: { type: webhook, url: https://a.example/x }\n",
      "2:8 MISSING_KEY a channel of type webhook needs `secret` | Add `secret`: the name of a variable or a map.",
    ],
    [
      "Slack's address in the file",
      "channels:\n  chat: { type: slack, secret: URL, url: https://hooks.slack.com/services/x }\n",
      "2:37 INVALID_VALUE a channel of type slack has no `url` | Who knows the address can write there, so it is a secret: put it into a variable and name that in `secret`.",
    ],
    [
      "a secret in the file",
      "channels:\n  ops: { type: webhook, url: https://a.example/x, secret: whsec_abc/def= }\n",
      "2:59 INVALID_VALUE `whsec_abc/def=` is not allowed here | Give the name of an environment variable, not the secret itself; or `{ file: /path }`.",
    ],
    [
      "a user in the address",
      "channels:\n  ops: { type: webhook, url: https://me:pw@a.example/x, secret: KEY }\n",
      "2:30 INVALID_VALUE `https://me:pw@a.example/x` is not allowed here | Write an address that begins with https:// or http://, without a user or password in it.",
    ],
    [
      "a user without a password",
      "channels:\n  mail: { type: email, host: h, from: a@b.c, to: a@b.c, user: me }\n",
      "2:57 INVALID_VALUE `user` and `secret` belong together | Give both, or neither where the mail server wants no password.",
    ],
    [
      "a try that may last for ever",
      "channels:\n  pager: { type: command, command: [page], timeout: 10m }\n",
      "2:53 INVALID_VALUE one try may take at most a minute | Write at most 60s; a message that fails is tried again.",
    ],
    [
      "a second line in an address",
      'channels:\n  mail: { type: email, host: h, from: "a@b.c\\nBcc: x@y.z", to: a@b.c }\n',
      "2:39 INVALID_VALUE `a@b.c�Bcc: x@y.z` is not allowed here | Write one address on one line, such as `ops@example.com` or `Daruma <daruma@example.com>`.",
    ],
    [
      "an unknown channel",
      `${HOOK}notify:\n  - { on: [held], to: [ops, opps] }\n`,
      "4:29 UNKNOWN_CHANNEL there is no channel `opps`, did you mean `ops`? | Rename it to `ops`.",
    ],
    [
      "an unknown kind",
      `${HOOK}notify:\n  - { on: [hold], to: ops }\n`,
      "4:12 INVALID_VALUE `hold` is not allowed here, did you mean `held`? | Write one of `held`, `failed`, `handled`, `completed`, `dead_letter`, `question`, `recovered`, `deadline`, `breaker`, `quarantined`.",
    ],
    [
      "an expression that is none",
      `${HOOK}notify:\n  - { on: [held], to: ops, when: "notice.kind ===" }\n`,
      "4:35 EXPRESSION_SYNTAX Unexpected end of input | Fix the JavaScript at the given place.",
    ],
    [
      "a name that a message does not have",
      `${HOOK}notify:\n  - { on: [held], to: ops, when: inputs.target === 'x' }\n`,
      "4:34 UNKNOWN_NAME unknown name `inputs` | Only `notice` is known here. Fields of `notice`: kind, workflow, run_id, step, scope, attempt, code, class, message, labels, name.",
    ],
    [
      "a field that a message does not have",
      `${HOOK}notify:\n  - { on: [held], to: ops, when: notice.worklow === 'x' }\n`,
      "4:41 UNKNOWN_NAME `notice` has no field `worklow`, did you mean `workflow`? | Rename it to `workflow`.",
    ],
  ])("refuse %s, with its place and what to do", { tags: ["N13"] }, (_, text, problem) => {
    expect(problemsOf(text)).toEqual([problem]);
  });
});
