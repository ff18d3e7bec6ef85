import { expect, it } from "vitest";
import { needsDatabase } from "./needs-database.js";

it.each([
  [["run", "a.yaml"], {}, true],
  [["--output-dir", "x", "resume", "3"], {}, true],
  [["list"], {}, false],
  [["run", "--help"], {}, false],
  [["resume", "-h"], {}, false],
  [[], {}, false],
  [["run", "a.yaml", "--store", "postgres://db/x"], {}, false],
  [["--server=http://127.0.0.1:7420", "run", "a.yaml"], {}, false],
  [["run", "a.yaml"], { DARUMA_STORE: "postgres://db/x" }, false],
  [["run", "a.yaml"], { DARUMA_SERVER: "http://127.0.0.1:7420" }, false],
])("daruma %j with %j starts the thread of its database at once: %j", (args, env, expected) => {
  expect(needsDatabase(args, env)).toBe(expected);
});
