import { createHash, createHmac } from "node:crypto";
import { expect, it } from "vitest";
import { type Headers, signedId } from "./webhook-desk.js";

const NOW = 1_700_000_000_000;
const BODY = Buffer.from('{"ref":"main"}');
const SECRET = `whsec_${Buffer.from("a key of some bytes, of some bytes").toString("base64")}`;
const KEY = Buffer.from(SECRET.slice("whsec_".length), "base64");

function standard(changes: { id?: string; at?: number; body?: Buffer; key?: Buffer | string } = {}): Headers {
  const { id = "msg_1", at = NOW / 1_000, body = BODY, key = KEY } = changes;
  const signature = createHmac("sha256", key).update(`${id}.${at}.`).update(body).digest("base64");
  return { "webhook-id": id, "webhook-timestamp": String(at), "webhook-signature": `v1,${signature}` };
}

const idOf = (headers: Headers, { secret = SECRET as string | null, bytes = BODY, now = NOW } = {}) =>
  signedId("standard", secret, { headers, bytes, now });

it("standard: the example of the specification is signed", { tags: ["K6"] }, () => {
  const headers = {
    "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "webhook-timestamp": "1614265330",
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  };
  const request = { headers, bytes: Buffer.from('{"test": 2432232314}'), now: 1_614_265_330_000 };
  expect(signedId("standard", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", request)).toBe(headers["webhook-id"]);
});

it("standard: forged, changed, old and early requests are refused", { tags: ["K6"] }, () => {
  expect(idOf(standard())).toBe("msg_1");
  expect(idOf(standard(), { bytes: Buffer.from('{"ref":"other"}') })).toBeNull();
  expect(idOf({ ...standard(), "webhook-id": "msg_2" })).toBeNull();
  expect(idOf({ ...standard(), "webhook-timestamp": String(NOW / 1_000 + 1) })).toBeNull();
  expect(idOf(standard({ key: "another" }))).toBeNull();
  for (const seconds of [-300, 300]) expect(idOf(standard({ at: NOW / 1_000 + seconds }))).toBe("msg_1");
  for (const seconds of [-301, 301]) expect(idOf(standard({ at: NOW / 1_000 + seconds }))).toBeNull();
  expect(idOf({})).toBeNull();
  expect(idOf({ ...standard(), "webhook-signature": "" })).toBeNull();
  expect(idOf({ ...standard(), "webhook-signature": "v1," })).toBeNull();
  expect(idOf(standard({ id: "a.b" }))).toBeNull();
  expect(idOf(standard({ id: "a\nb" }))).toBeNull();
  expect(idOf(standard(), { secret: null })).toBeNull();
});

it("standard: one of several signatures will do, of the first version alone", { tags: ["K6"] }, () => {
  const { "webhook-signature": right, ...rest } = standard() as { [name: string]: string };
  const wrong = `v1,${Buffer.alloc(32).toString("base64")}`;
  const idWith = (signatures: string) => idOf({ ...rest, "webhook-signature": signatures });
  expect(idWith(`${wrong} ${right}`)).toBe("msg_1");
  expect(idWith(`v1a,xyz ${right} ${wrong}`)).toBe("msg_1");
  expect(idWith(`${wrong} ${wrong}`)).toBeNull();
  expect(idWith(right!.replace("v1,", "v2,"))).toBeNull();
});

it("standard: a secret that is no whsec_ key is taken as it is", { tags: ["K6"] }, () => {
  expect(idOf(standard({ key: "plain words" }), { secret: "plain words" })).toBe("msg_1");
});

it("standard: a whsec_ key without a byte signs nothing", { tags: ["K6"] }, () => {
  expect(idOf(standard({ key: Buffer.alloc(0) }), { secret: "whsec_A" })).toBeNull();
});

it("github: the example of its documents is signed; the id is the hash of the body", { tags: ["K6"] }, () => {
  const bytes = Buffer.from("Hello, World!");
  const signature = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
  const idWith = (headers: Headers, secret: string | null = "It's a Secret to Everybody") =>
    signedId("github", secret, { headers, bytes, now: NOW });
  const hash = createHash("sha256").update(bytes).digest("hex");
  expect(idWith({ "x-hub-signature-256": signature })).toBe(hash);
  expect(idWith({ "x-hub-signature-256": signature.replace("757", "758") })).toBeNull();
  expect(idWith({ "x-hub-signature-256": signature.slice(0, -2) })).toBeNull();
  expect(idWith({ "x-hub-signature": signature })).toBeNull();
  expect(idWith({ "x-hub-signature-256": signature }, "another")).toBeNull();
  expect(idWith({ "x-hub-signature-256": signature }, null)).toBeNull();
});

it("a request of the other form is refused", { tags: ["K6"] }, () => {
  const github = `sha256=${createHmac("sha256", SECRET).update(BODY).digest("hex")}`;
  expect(idOf({ "x-hub-signature-256": github })).toBeNull();
  expect(signedId("github", SECRET, { headers: standard(), bytes: BODY, now: NOW })).toBeNull();
});
