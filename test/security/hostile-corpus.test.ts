import { describe, expect, it } from "vitest";
import { checkLocalRequest } from "../../src/api/browser-guard.js";
import { terminalText } from "../../src/cli/terminal/channel.js";
import { createRedactor } from "../../src/core/redaction/redaction.js";
import { registration, reports } from "../../src/fleet/desk/protocol.js";
import { readRunDocument } from "../../src/operations/exchange/read-run-document.js";
import { name } from "../../src/operations/schemas.js";
import { registration as goodRegistration, report } from "../support/pool-bench.js";

/** How many of each kind were tried, and how many got nowhere. */
const counts: { [kind: string]: { tried: number; refused: number } } = {};

function tried(kind: string, isRefused: boolean): void {
  const { tried: all, refused } = counts[kind] ?? { tried: 0, refused: 0 };
  counts[kind] = { tried: all + 1, refused: refused + Number(isRefused) };
}

function codeOf(ask: () => unknown): string | null {
  try {
    ask();
    return null;
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  }
}

const HOSTS = [
  ...["evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "192.168.1.2", "10.0.0.1", "[::2]"],
  ...["localhost#evil", "localhost/evil", "localhost?evil", "evil@127.0.0.1", "127.0.0.1@evil", "127.1"],
  ...["0x7f.0.0.1", "2130706433", "localhost:1:2", "localhost:999999", "local\thost", "lo\ncalhost", ""],
  ...["[::1", "::1]", "[::1%25lo]", "127.0.0.1 evil", "127.0.0.1,evil", "localhost\\evil", "\u202elocalhost"],
];
const PAGES = [
  { origin: "http://evil.example" },
  { origin: "null" },
  { origin: "http://localhost:1" },
  { origin: "https://127.0.0.1.evil" },
  { site: "cross-site", mode: "no-cors" },
  { site: "same-site", mode: "no-cors" },
  { site: "cross-site", mode: "cors" },
  { site: "cross-site", mode: "navigate", method: "POST" },
];
const FILES = [
  ...[
    "../x",
    "a/../../x",
    "/etc/passwd",
    "a//b",
    ".bashrc",
    ".git/config",
    "a/.gitattributes",
    "a\0b",
    "a\nb",
  ],
  ...["workspace/current.json", "Workspace/x", "WORKSPACE/store.git/config", "workspace/trees/1/f"],
  ...[
    "HEAD",
    "outputs/HEAD",
    "outputs/config",
    "outputs/CONFIG",
    "x/config.worktree",
    "x/commondir",
    "x/gitdir",
  ],
  ...[
    "evil.git/x",
    "outputs/evil.git/hooks/pre-commit",
    "C:\\x",
    "a\\b",
    "\u202ex",
    "é",
    "a b",
    "a;b",
    "-/../x",
  ],
];
const TERMINAL = [
  ...["\u001b]0;t\u0007", "\u001b]52;c;eA==\u0007", "\u001b]8;;http://e\u001b\\x", "\u001b[2J", "\u001b[6n"],
  ...[
    "\u001bP1$r\u001b\\",
    "\u001bc",
    "\u001b[?1049h",
    "\u009b2J",
    "\u009d0;x\u009c",
    "\u0090q\u009c",
    "\b\b",
  ],
  ...[
    "\u202e",
    "\u2066",
    "\u200f",
    "\u061c",
    "\u0000",
    "\u007f",
    "a\rb",
    "\u001b]0;unended",
    "\u001b",
    "\u001b[",
  ],
];
const NAMES = ["a\nb", "a\u001b[31m", "", "a\u0000", "x".repeat(201), "a\u0085b", "\u009b31m", "a\tb"];

const TIMES = [1e300, -1e300, 9e15, -9e15, 8.64e15, -1, 0.5, Number.NaN, Infinity, null, "0", [0], undefined];
const CREATED = { workflow: "w", workflow_id: 1, definition_hash: "", folder: "/", file: null };
/** What else the first event of a log has. */
const BLANK_RUN = {
  ...{ inputs: {}, context: {}, parent: null, managed: false, failure_handlers: [] },
  options: { max_loops: null, retry_max: null, failure_routing: true, only: null },
};

/** A document with one event. */
const imported = (event: object, at: unknown, files: readonly object[]): object => ({
  ...{ format: "daruma-run", version: 1, exported_at: "", left_out: [], files },
  run: { id: 1, workflow: "w", status: "completed" },
  definition: JSON.stringify({ name: "w", steps: [] }),
  events: [
    {
      seq: 1,
      at,
      event: { type: "run.created", ...BLANK_RUN, ...CREATED, ...event },
    },
  ],
});

describe("a corpus of hostile inputs", () => {
  it("of hosts and pages gets nowhere at a server without tokens", () => {
    const own = { method: "GET", host: "127.0.0.1:7420", origin: undefined };
    expect(codeOf(() => checkLocalRequest(own, []))).toBeNull();
    for (const host of HOSTS)
      tried("hosts", codeOf(() => checkLocalRequest({ ...own, host }, [])) === "HOST_REFUSED");
    for (const page of PAGES)
      tried("web pages", codeOf(() => checkLocalRequest({ ...own, ...page }, [])) === "ORIGIN_REFUSED");
  });

  it("of names of files is in no document that is imported", () => {
    const document = (name: string) => imported({}, 0, [{ name, base64: "eA==" }]);
    expect(codeOf(() => readRunDocument(document("artifacts/outputs/j10000001_a1.json")))).toBeNull();
    for (const file of FILES)
      for (const place of ["artifacts/", "logs/", ""])
        tried(
          "files of an import",
          codeOf(() => readRunDocument(document(place + file))) === "IMPORT_INVALID",
        );
  });

  it("of events is in no document that is imported", () => {
    expect(codeOf(() => readRunDocument(imported({}, 0, [])))).toBeNull();
    for (const at of TIMES)
      tried("times of an import", codeOf(() => readRunDocument(imported({}, at, []))) === "IMPORT_INVALID");
    for (const field of Object.keys(CREATED))
      for (const value of [5.5, { x: [1] }, [[1]], true, undefined])
        tried(
          "fields of an import",
          codeOf(() => readRunDocument(imported({ [field]: value }, 0, []))) === "IMPORT_INVALID",
        );
  });

  it("of escapes reaches no terminal", () => {
    const OBEYED = /(?!\n|\t)[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;
    for (const text of TERMINAL) tried("escapes for a terminal", !OBEYED.test(terminalText(`x${text}y`)));
    for (const text of NAMES) tried("names", !name.safeParse(text).success);
  });

  it("of spellings shows no secret", () => {
    const value = "Grüße-Tr0ub4dor&3/x+y";
    const redactor = createRedactor([{ name: "S", value }]);
    const bytes = Buffer.from(value);
    const folded = (text: string) => text.replaceAll(/.{12}/g, "$&\n");
    const spellings = [
      ...[
        value,
        value.toUpperCase(),
        value.normalize("NFD"),
        JSON.stringify(value),
        encodeURIComponent(value),
      ],
      ...[bytes.toString("hex"), bytes.toString("base64"), bytes.toString("base64url"), folded(value)],
      ...[
        folded(bytes.toString("hex")),
        folded(bytes.toString("base64")),
        `\\x${bytes.toString("hex").match(/../g)!.join("\\x")}`,
      ],
      ...[value.replaceAll("&", "&amp;"), Buffer.from(value, "utf16le").toString("base64")],
    ];
    for (const text of spellings)
      tried("spellings of a secret", redactor.redact(text).includes("[redacted:S]"));
    for (const wide of [Buffer.from(value, "utf16le"), Buffer.from(value, "utf16le").swap16()]) {
      const shown = Buffer.from(redactor.stream().write(Buffer.concat([wide, Buffer.from(" end of it")])));
      tried("spellings of a secret", shown.includes("[redacted:S]"));
    }
  });

  it("of messages is no word of a worker", () => {
    expect(registration.safeParse(goodRegistration()).success).toBe(true);
    expect(reports.safeParse({ reports: [report()] }).success).toBe(true);
    const registrations = [
      ...[
        { name: "local-1" },
        { name: "human" },
        { name: "a\nb" },
        { name: "../x" },
        { name: "x".repeat(101) },
      ],
      ...[
        { slots: 0 },
        { slots: 1e9 },
        { slots: 1.5 },
        { cpus: -1 },
        { memory_bytes: -1 },
        { instance: "../../x" },
      ],
      ...[{ attempts: Array(10_001).fill({}) }, { tags: Array(101).fill("t") }, { more: 1 }],
    ];
    for (const change of registrations)
      tried("registrations", !registration.safeParse({ ...goodRegistration(), ...change }).success);
    const artifact = { kind: "artifact", bytes: 1, sha256: "0".repeat(64), preview: "" };
    const results = [
      ...[{ kind: "lost" }, { kind: "failed" }, { kind: "failed", facts: {} }, { kind: "succeeded" }],
      { kind: "succeeded", output: { ...artifact, sha256: "x" }, items: null },
      { kind: "succeeded", output: { ...artifact, bytes: -1 }, items: null },
      { kind: "succeeded", output: { ...artifact, path: "/etc/passwd" }, items: null },
      { kind: "failed", facts: { message: "x".repeat(40_000) } },
    ];
    for (const result of results)
      tried("reports", !reports.safeParse({ reports: [{ ...report(), result }] }).success);
    const many = { reports: Array(101).fill(report()) };
    for (const body of [{ reports: [] }, many, { reports: [{ ...report(), duration_ms: -1 }] }, [], null])
      tried("reports", !reports.safeParse(body).success);
  });

  it("is refused to the last one", () => {
    const lines = Object.entries(counts).map(
      ([kind, { tried: all, refused }]) => `${kind}: ${all} tried, ${refused} refused`,
    );
    console.log(lines.join("\n"));
    expect(Object.keys(counts)).toHaveLength(10);
    for (const [kind, { tried: all, refused }] of Object.entries(counts))
      expect([kind, refused]).toEqual([kind, all]);
  });
});
