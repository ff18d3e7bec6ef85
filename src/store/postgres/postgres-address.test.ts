import { expect, test } from "vitest";
import { isPostgresUrl, parseAddress } from "./postgres-address.js";

test("a PostgreSQL URL is told from a file's path", () => {
  const texts = [
    "postgres://h/d",
    "postgresql://h/d",
    "POSTGRES://h/d",
    "postgres:/u:pw@h/d",
    "postgresql:h",
    "postgres.db",
    "/srv/postgres://",
    "",
  ];
  expect(texts.map(isPostgresUrl)).toEqual([true, true, true, true, true, false, false, false]);
});

test("what is shown of an address is host, port, database and schema", () => {
  const address = parseAddress("postgres://me:s3cret@db.example:5433/flows?sslmode=require");
  expect(address.label).toBe("PostgreSQL at db.example:5433/flows (schema daruma)");
  expect(address.url).toContain("sslmode=require");
});

test("the password is hidden as it was written and as it is meant", () => {
  const { hideSecrets } = parseAddress("postgres://me:s%3Acret@h/d");
  expect(hideSecrets("s%3Acret or s:cret")).toBe("*** or ***");
  expect(parseAddress("postgres://h/d").hideSecrets("nothing to hide")).toBe("nothing to hide");
});

test("a schema is taken from the options before the URL, and the server is not told of it twice", () => {
  const url = "postgres://h/d?schema=one&search_path=public";
  expect(parseAddress(url).schema).toBe("one");
  expect(parseAddress(url, "two").schema).toBe("two");
  expect(parseAddress(url).url).toBe("postgres://h/d");
});

test("names that SQL would have to quote are refused as schemas", () => {
  for (const name of ["", "Daruma", "a-b", "1a", 'x"; DROP SCHEMA public', "a".repeat(64)]) {
    expect(() => parseAddress("postgres://h/d", name)).toThrow("cannot be the name");
  }
});

test("an address with one slash is refused with how to write it, without its password", () => {
  const refused = () => parseAddress("postgres:/me:s3cret@h/d");
  expect(refused).toThrow("the address of the PostgreSQL store is not a URL");
  expect(refused).not.toThrow("s3cret");
});
