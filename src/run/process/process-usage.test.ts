import { describe, expect, it } from "vitest";
import { LAUNCHERS, ProcessTrial } from "../../../test/support/process-trial.js";
import { LauncherHost } from "./launcher-host.js";
import { SpawnHost } from "./spawn-host.js";

const MIB = 1024 * 1024;
/** Takes `MB` of memory in a process of its own. */
const take = (mb: number): string => `perl -e '$taken = "x" x ${mb * MIB}'`;
const COUNT_TO_A_MILLION = "perl -e '1 while $i++ < 1_000_000'";

describe.runIf(process.platform === "linux").each(LAUNCHERS)("what a process used: %s", (_name, program) => {
  const { run } = new ProcessTrial(() => new LauncherHost(program));

  it("is the peak of its largest process, whoever of the group that was", async () => {
    const small = await run("env true");
    expect(small.usage!.peak_memory_bytes).toBeGreaterThan(MIB / 4);
    expect(small.usage!.peak_memory_bytes).toBeLessThan(40 * MIB);
    const large = await run(
      `${take(20)}; sh -c "${take(100).replaceAll('"', '\\"').replaceAll("$", "\\$")}; :"; :`,
    );
    expect(large).toMatchObject({ exitCode: 0, stderr: "" });
    expect(large.usage!.peak_memory_bytes).toBeGreaterThan(100 * MIB);
    expect(large.usage!.peak_memory_bytes).toBeLessThan(240 * MIB);
  });

  it("is the CPU time of all of its processes, and no other's", async () => {
    const { usage: idle } = await run("sleep 0.05; :");
    const { usage: once } = await run(`${COUNT_TO_A_MILLION}; :`);
    const { usage: often } = await run(`${`${COUNT_TO_A_MILLION}; `.repeat(8)}:`);
    expect(once!.cpu_ms).toBeGreaterThan(idle!.cpu_ms);
    expect(often!.cpu_ms).toBeGreaterThan(3 * once!.cpu_ms);
  });

  it("is what it wrote to disks, its children included", async () => {
    const { usage: idle } = await run("env true");
    const { usage: wrote } = await run(
      "sh -c 'dd if=/dev/zero of=written bs=1M count=8 conv=fsync 2>/dev/null; :'; rm written; :",
    );
    expect(idle!.written_bytes).toBeLessThan(MIB);
    expect(wrote!.written_bytes).toBeGreaterThanOrEqual(8 * MIB);
    expect(wrote!.read_bytes).toEqual(expect.any(Number));
  });

  it("is told of one that fails or is killed", async () => {
    expect((await run("env true; exit 3")).usage).toBeDefined();
    expect(await run("kill -9 $$")).toMatchObject({
      signal: "SIGKILL",
      usage: { cpu_ms: expect.any(Number) },
    });
  });

  it("is unknown of what was never started, and of a line of built-ins in a waiting shell", async () => {
    expect((await run(["no-such-program-here"])).usage).toBeUndefined();
    expect((await run("echo built-in; exit 0")).usage).toBeUndefined();
  });

  it("has what a process used that outlived the main one", async () => {
    const leftover = `perl -e '$taken = "x" x ${90 * MIB}; open(F, ">", "taken"); sleep 1000'`;
    const { usage } = await run(`${leftover} & while ! [ -e taken ]; do sleep 0.01; done`);
    expect(usage!.peak_memory_bytes).toBeGreaterThan(90 * MIB);
  });
});

describe("what a process used: plain spawn", () => {
  const { run } = new ProcessTrial(() => new SpawnHost());
  it("is unknown: Node does not tell", async () => {
    expect((await run("env true")).usage).toBeUndefined();
  });
});
