import { expect, it } from "vitest";
import { bareServer } from "../../test/support/api-server.js";

const LOCAL = { host: "127.0.0.1:7420" };
const url = "/api/v1/workflows/release/draft";

async function saver() {
  const { app } = await bareServer();
  return (key: string | null, payload: object) =>
    app.inject({
      method: "PUT",
      url,
      headers: { ...LOCAL, ...(key === null ? {} : { "idempotency-key": key }) },
      payload,
    });
}

it("the header Idempotency-Key is the field `key`", async () => {
  const save = await saver();
  const source = "steps: {}";
  expect((await save("k", { source })).json()).toMatchObject({ revision: 1 });
  expect((await save("k", { source })).json()).toMatchObject({ revision: 1 });
  expect((await save(null, { source, key: "k" })).json()).toMatchObject({ revision: 1 });
  expect((await save("k", { source, key: "k" })).json()).toMatchObject({ revision: 1 });
  expect((await save(null, { source })).json()).toMatchObject({ revision: 2 });
  const other = await save("k", { source: "steps: { a: { type: noop } }" });
  expect([other.statusCode, other.json()]).toEqual([422, expect.objectContaining({ code: "KEY_REUSED" })]);
});

it("a header and a field that differ are refused, and so is a header that would not be heeded", async () => {
  const save = await saver();
  const differs = await save("k", { source: "steps: {}", key: "other" });
  expect(differs.json()).toMatchObject({
    code: "INVALID_INPUT",
    errors: [{ path: "key", message: "differs from the header Idempotency-Key" }],
  });
  const { app } = await bareServer();
  const headers = { ...LOCAL, "idempotency-key": "k" };
  const token = await app.inject({
    method: "POST",
    url: "/api/v1/tokens",
    headers,
    payload: { name: "ci", role: "viewer" },
  });
  expect([token.statusCode, token.json()]).toEqual([
    422,
    expect.objectContaining({ code: "INVALID_INPUT", detail: "create_token takes no Idempotency-Key" }),
  ]);
  expect((await app.inject({ url: "/api/v1/drafts", headers })).statusCode).toBe(200);
});
