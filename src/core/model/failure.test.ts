import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { FAILURE_CLASSES, traitsOf } from "./failure.js";

describe("the table of failure classes", () => {
  const page = readFileSync(new URL("../../../docs/ladder/README.md", import.meta.url), "utf8");
  /** The column "retried" begins with yes, no, or the rung that runs such a step again. */
  const rows = [...page.matchAll(/^\| `([a-z_]+)` \| .* \| (yes|no|restart)\b[^|]*\|$/gm)];

  it("is what the page about failures says of each class", () => {
    expect(rows.map(([, name]) => name).sort()).toEqual([...FAILURE_CLASSES].sort());
    for (const [, name, retried] of rows) {
      const { retried: isRetried, lost } = traitsOf(name as (typeof FAILURE_CLASSES)[number]);
      expect([name, retried]).toEqual([name, lost ? "restart" : isRetried ? "yes" : "no"]);
    }
  });

  it("retries and puts back only what may pass", () => {
    for (const failureClass of FAILURE_CLASSES) {
      const { retried, requeued, mayPass } = traitsOf(failureClass);
      expect([failureClass, mayPass || !(retried || requeued)]).toEqual([failureClass, true]);
    }
  });

  it("takes a class that it does not know for the step's own", () => {
    expect(traitsOf("of_tomorrow" as "application")).toEqual(traitsOf("application"));
  });
});
