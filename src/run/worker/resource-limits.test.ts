import { describe, expect, it } from "vitest";
import { ManualClock } from "../../../test/support/manual-clock.js";
import { assignment } from "../../../test/support/pool-bench.js";
import type { FailureFacts } from "../../core/model/failure.js";
import { ResourceLimits } from "./resource-limits.js";

const MIB = 1024 ** 2;

/** An attempt that asked for so much memory, during which the kernel ended so many processes. */
function judge(
  { asked, kills, peak }: { asked: number | null; kills: readonly (number | null)[]; peak?: number },
  facts: Partial<FailureFacts> = { signal: "SIGKILL" },
): FailureFacts | null {
  const counts = [...kills];
  const resources = asked === null ? null : { cpus: 1, memoryBytes: asked, runtimeMs: null };
  const limits = new ResourceLimits(new ManualClock(), assignment({ resources }), () => {}, {
    count: () => counts.shift() ?? null,
  });
  limits.clear();
  const used = peak === undefined ? {} : { used: { peak_memory_bytes: peak, cpu_ms: 1 } };
  return limits.judge({ kind: "failed", facts: { message: "ended", ...facts }, ...used });
}

const OOM = { code: "OOM", exitCode: 137 };

describe("an attempt whose process the kernel has ended for want of memory", () => {
  it.each([{ signal: "SIGKILL" }, { exitCode: 137 }])("is out of memory: %j", (facts) => {
    expect(judge({ asked: null, kills: [3, 4] }, facts)).toMatchObject({
      ...OOM,
      message: "the system ended it because there was no memory left",
    });
  });

  it("is out of memory where it used more than it asked for", () => {
    expect(judge({ asked: 100 * MIB, kills: [0, 1], peak: 101 * MIB })).toMatchObject({
      ...OOM,
      message:
        "the system ended it because there was no memory left; it had used 101 MiB of the 100 MiB it asked for",
    });
  });

  it("was evicted where it used less: others have taken its memory", () => {
    expect(judge({ asked: 100 * MIB, kills: [0, 1], peak: 60 * MIB })).toEqual({
      message:
        "the system ended it because there was no memory left, though it had used only 60 MiB of the 100 MiB it asked for",
      evicted: true,
      signal: "SIGKILL",
    });
  });

  it("is out of memory where nobody knows what it used", () => {
    expect(judge({ asked: 100 * MIB, kills: [0, 1] })).toMatchObject(OOM);
  });
});

describe("an attempt that died in another way", () => {
  it.each([{ signal: "SIGTERM" }, { exitCode: 1 }, { signal: "SIGSEGV" }])(
    "is not blamed for a kill meanwhile, which was another's: %j",
    (facts) => {
      expect(judge({ asked: null, kills: [0, 1] }, facts)).toBeNull();
    },
  );

  it("was killed by somebody else where the kernel has counted none, or does not count", () => {
    expect(judge({ asked: null, kills: [2, 2] })).toBeNull();
    expect(judge({ asked: null, kills: [null, null] })).toBeNull();
    expect(judge({ asked: null, kills: [null, 5] })).toBeNull();
  });
});
