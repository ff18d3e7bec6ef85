import postgres from "postgres";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Database } from "../../src/store/postgres/database.js";
import { parseAddress } from "../../src/store/postgres/postgres-address.js";
import { openPostgresStore } from "../../src/store/postgres/postgres-store.js";
import type { Store } from "../../src/store/store.js";
import { type Cut, CuttingProxy } from "../support/cutting-proxy.js";
import { freshSchema, sharedPostgresUrl } from "../support/embedded-postgres.js";

let proxy: CuttingProxy;
let store: Store;
let schema = "";
let url = "";

beforeEach(async () => {
  [url, schema] = [await sharedPostgresUrl(), freshSchema()];
  const { port } = new URL(url);
  proxy = await CuttingProxy.to(Number(port));
  store = await openPostgresStore({ url: url.replace(port, String(proxy.port)), schema });
});

afterEach(async () => {
  await store.close();
  await proxy.close();
  await ask(`DROP SCHEMA ${schema} CASCADE`);
});

async function ask(text: string): Promise<unknown> {
  const sql = postgres(url, { max: 1, connection: { search_path: schema }, onnotice: () => {} });
  const rows = await sql.unsafe(text);
  await sql.end();
  return [...rows];
}

describe("a connection that breaks", () => {
  test.each<[Cut, string]>([
    ["answer", "BEGIN READ WRITE"],
    ["question", "INSERT INTO shared"],
    ["answer", "INSERT INTO shared"],
    ["question", "SAVEPOINT all_is_written"],
    ["answer", "SAVEPOINT all_is_written"],
  ])(
    "within a transaction (%s of %s) writes it once, with the answer of the first try",
    async (cut, sign) => {
      proxy.cutNext(cut, sign);
      const saved = await store.saveDraft({ name: "d", source: "s", basedOn: 0, at: 1 });
      expect(proxy.hasCut).toBe(true);
      expect(saved).toEqual({ saved: true, draft: { name: "d", source: "s", revision: 1, updated_at: 1 } });
      expect(await store.listDrafts()).toEqual([saved.draft]);
      expect(await ask("SELECT answer FROM call")).toEqual([{ answer: JSON.stringify(saved) }]);
    },
  );

  test("within a transaction never lets the rest of it stand alone", async () => {
    const db = new Database(parseAddress(url, schema), 1);
    try {
      const code = (alone: string) =>
        db.transact((session) =>
          session.script(alone).then(
            () => "done",
            (error: { code: string }) => error.code,
          ),
        );
      expect(await code("INSERT INTO call (id, answer) VALUES ('alone', '1')")).toBe("25006");
      expect(await code("SAVEPOINT all_is_written; COMMIT")).toBe("25P01");
    } finally {
      await db.close();
    }
    expect(await ask("SELECT id FROM call")).toEqual([]);
  });
});
