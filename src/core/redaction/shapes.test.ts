import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createRedactor } from "./redaction.js";

// Put together here so that no scanner takes this file for a leak.
const letters = (count: number) => "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0z".repeat(9).slice(0, count);
const capitals = (count: number) => "A1B2C3D4E5F6G7H8J9K0".slice(0, count);
const jwt = ["eyJhbGciOiJIUzI1NiJ9", "eyJzdWIiOiIxMjM0In0", letters(43)].join(".");
const key = (label: string, body: string) => `-----BEGIN ${label}-----\n${body}\n-----END ${label}-----`;
const keyBody = `${letters(64)}\n${letters(64)}\n${letters(7)}=`;

const redactor = createRedactor([]);
const redact = (text: string) => redactor.redact(text);

describe("well-known tokens", () => {
  it.each([
    ["GitHub", `ghp_${letters(36)}`],
    ["GitHub app", `ghs_${letters(36)}`],
    ["GitHub OAuth", `gho_${letters(36)}`],
    ["GitHub fine-grained", `github_pat_${letters(22)}_${letters(59)}`],
    ["GitLab", `glpat-${letters(20)}`],
    ["AWS key id", `AKIA${capitals(16)}`],
    ["AWS session key id", `ASIA${capitals(16)}`],
    ["Slack", `xoxb-123456789012-${letters(24)}`],
    ["OpenAI", `sk-proj-${letters(48)}`],
    ["Anthropic", `sk-ant-api03-${letters(90)}`],
    ["Google", `AIza${letters(35)}`],
    ["JWT", jwt],
    ["npm", `npm_${letters(36)}`],
    ["private key", key("PRIVATE KEY", keyBody)],
    [
      "RSA key",
      key("RSA PRIVATE KEY", `Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,${letters(32)}\n\n${keyBody}`),
    ],
    ["OpenSSH key", key("OPENSSH PRIVATE KEY", keyBody)],
    ["key in JSON", key("EC PRIVATE KEY", keyBody).replaceAll("\n", "\\n")],
    ["key in a log with prefixes", key("PRIVATE KEY", keyBody).replaceAll("\n", "\n[12:00:01] build | ")],
    ["very long token", `ghp_${letters(200)}`],
    ["Daruma's own", `drm_${letters(43)}`],
    ["DigitalOcean", `dop_v1_${"0123456789abcdef".repeat(4)}`],
  ])("%s: hidden in plain text, in quotes, after an escape, after a colour", (_, token) => {
    expect(redact(`x ${token} y`)).toBe("x [redacted] y");
    expect(redact(`"${token}"`)).toBe('"[redacted]"');
    expect(redact(`a\\n${token}\\n`)).toBe("a\\n[redacted]\\n");
    expect(redact(`\u001b[32m${token}\u001b[0m`)).toBe("\u001b[32m[redacted]\u001b[0m");
  });

  it.each([
    ["Authorization: Bearer abc.def", "Authorization: Bearer [redacted]"],
    ["authorization: basic dXNlcjpwYXNz", "authorization: basic [redacted]"],
    [`curl -H "Authorization: token abcdef" x`, `curl -H "Authorization: token [redacted]" x`],
    ['{"Authorization":"Bearer abcdef"}', '{"Authorization":"Bearer [redacted]"}'],
    [`sent bearer ${letters(30)}`, "sent bearer [redacted]"],
    ["https://bob:pa55@example.com/x", "https://bob:[redacted]@example.com/x"],
    ["postgres://u:p@ss@db:5432/x", "postgres://u:[redacted]@db:5432/x"],
    ["redis://:pw@h", "redis://:[redacted]@h"],
    ["password=swordfish&user=bob", "password=[redacted]&user=bob"],
    ["PASSWORD='sword fish' x", "PASSWORD='[redacted]' x"],
    ["DB_PASSWORD=sword-fish\nnext", "DB_PASSWORD=[redacted]\nnext"],
    ['{"password": "swordfish", "user": "bob"}', '{"password": "[redacted]", "user": "bob"}'],
    ['{\\"password\\": \\"swordfish\\"}', '{\\"password\\": \\"[redacted]"}'],
    ["?access_token=abc123def&x=1", "?access_token=[redacted]&x=1"],
    ["api_key=abcdefgh, apikey: k1234567", "api_key=[redacted], apikey: [redacted]"],
    ["X-Api-Key: abcd1234", "X-Api-Key: [redacted]"],
    [`aws_secret_access_key = ${letters(20)}/${letters(19)}`, "aws_secret_access_key = [redacted]"],
    [`"SecretAccessKey": "${letters(40)}"`, '"SecretAccessKey": "[redacted]"'],
    ["client_secret=abcdefgh", "client_secret=[redacted]"],
    ["//registry/:_authToken=abc123xyz", "//registry/:_authToken=[redacted]"],
  ])("%s", (text, expected) => {
    expect(redact(text)).toBe(expected);
    expect(redact(expected)).toBe(expected);
  });
});

describe("ordinary text that looks a little like a token", () => {
  it.each([
    "Unexpected token: identifier",
    "unexpected token = in line 5",
    "the password: must have 8 characters",
    "password= and token=",
    'password="" and then some text',
    "max_tokens=4096 tokens=123456",
    "nextToken=abc123def page_token: abc123def",
    `password=$DB_PASSWORD token=\${TOKEN} secret={{ secrets.x1 }} password=<your password>`,
    "password=undefined",
    "password=readPassword(prompt)",
    "task-abcdefghijklmnopqrstuvwx1 disk-usage-of-the-machine-42",
    "sk-learn-is-not-a-token-at-all",
    "PWD=/srv/build/work1234",
    "npm_config_registry=x npm_package_name=y",
    "https://example.com:8080/a@b user@host:22 http://localhost:3000",
    "git@github.com:a/b.git ssh://git@host/x",
    "-----BEGIN CERTIFICATE-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A\n-----END CERTIFICATE-----",
    "eyJ and eyJhbGciOiJIUzI1NiJ9 alone",
    "AKIA is a prefix, AKIA1234 too short",
    "Authorization: required",
    "the bearer of this letter shall pass",
  ])("%s", (text) => {
    expect(redact(text)).toBe(text);
  });

  it("goes on after a mention of a private key", () => {
    const rest = "the file has no such line. ".repeat(40);
    const shown = redact(`expected -----BEGIN PRIVATE KEY----- but ${rest}`);
    expect(shown.startsWith("expected [redacted]")).toBe(true);
    expect(shown.length).toBeGreaterThan(rest.length - 400);
    expect(rest.endsWith(shown.slice(-200))).toBe(true);
  });
});

describe("tokens in chunks", () => {
  const fragments = fc.constantFrom(
    ...[
      `ghp_${letters(36)}`,
      jwt,
      key("PRIVATE KEY", keyBody),
      "password=swordfish",
      'token": "abc123',
      "://a:b@c",
      "Authorization: Bearer x1234",
      `sk-${letters(25)}`,
    ],
    ...[
      "eyJ",
      "-----BEGIN ",
      "PRIVATE KEY-----",
      "-----END X-----",
      "password",
      "=",
      ": ",
      '"',
      "token",
      " ",
      "\n",
      "é",
      "\\",
      "hunter22",
      "hunt",
      letters(40),
      "authorization",
      "bearer ",
      "@",
      "/",
    ],
  );
  const named = createRedactor([{ name: "N", value: "hunter22" }]);

  it("are hidden the same however the bytes are cut", () => {
    fc.assert(
      fc.property(
        fc.array(fragments, { maxLength: 8 }),
        fc.array(fc.nat(2_000), { maxLength: 8 }),
        (parts, places) => {
          const text = parts.join("");
          const bytes = Buffer.from(text);
          const cuts = [
            0,
            ...places.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b),
            bytes.length,
          ];
          const stream = named.stream();
          const shown = cuts
            .slice(1)
            .map((end, index) => Buffer.from(stream.write(bytes.subarray(cuts[index], end))));
          expect(Buffer.concat([...shown, stream.end()]).toString()).toBe(named.redact(text));
        },
      ),
      { numRuns: 3_000 },
    );
  });

  it("of any length leave only their label", () => {
    const stream = redactor.stream();
    let shown = "";
    for (const chunk of ["ghp_", ...Array.from({ length: 500 }, () => letters(200)), " end"]) {
      shown += Buffer.from(stream.write(Buffer.from(chunk))).toString();
    }
    expect(shown + Buffer.from(stream.end()).toString()).toBe("[redacted] end");
  });

  it("hold back a few KB at most, whatever comes", () => {
    for (const unit of [
      "eyJ",
      "eyJ.",
      "token=",
      "password=",
      "://a:",
      "-----BEGIN ",
      "sk-",
      "sk-a",
      "authorization: bearer ",
      '"secret": "',
    ]) {
      const stream = redactor.stream();
      const chunk = Buffer.from(unit.repeat(500));
      let withheld = 0;
      for (let round = 0; round < 20; round++) {
        const shown = stream.write(chunk);
        withheld = shown.length === 0 ? withheld + chunk.length : 0;
        if (!["password=", "authorization: bearer "].includes(unit)) expect(withheld).toBeLessThan(8_192);
      }
    }
  });
});
