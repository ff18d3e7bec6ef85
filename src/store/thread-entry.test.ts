import { expect, test } from "vitest";
import { threadEntry } from "./thread-entry.js";

test("a compiled module finds its thread's entry beside itself", () => {
  const url = threadEntry("file:///srv/src/app/node_modules/daruma/dist/store/sqlite/a.js", "./b.js");
  expect(url.href).toBe("file:///srv/src/app/node_modules/daruma/dist/store/sqlite/b.js");
});

test("a module run from source finds the build of its thread's entry, also below another folder called src", () => {
  const url = threadEntry("file:///home/me/src/my%20daruma/src/store/sqlite/a.ts", "./b.js");
  expect(url.href).toBe("file:///home/me/src/my%20daruma/dist/store/sqlite/b.js");
});
