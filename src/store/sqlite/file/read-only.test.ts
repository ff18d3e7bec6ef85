import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { makeThere } from "./read-only.js";

const file = join(tmpdir(), "nowhere", "daruma.db");
const failing = (code: string) => () => {
  throw Object.assign(new Error(`${code}: mkdir`), { code });
};

it.each(["EROFS", "EACCES", "EPERM"])("a folder that cannot be made is STORE_READ_ONLY: %s", (code) => {
  expect(() => makeThere(file, failing(code))).toThrow(
    expect.objectContaining({ code: "STORE_READ_ONLY", message: `${file} cannot be written` }),
  );
});

it("leaves another error as it is", () => {
  expect(() => makeThere(file, failing("ENOSPC"))).toThrow(expect.objectContaining({ code: "ENOSPC" }));
});
