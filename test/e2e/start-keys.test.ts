import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.js";
import { runCli } from "../support/cli.js";
import { CuttingProxy } from "../support/cutting-proxy.js";
import { DarumaProcess, untilReady } from "../support/daruma-process.js";
import { freePort } from "../support/free-port.js";

const HELD = "name: held\nunhandled: hold\nsteps: { a: { exec: exit 3 } }";

describe("a command line whose answer is cut off", () => {
  let folder: string;
  let out: string;
  let file: string;
  let server: DarumaProcess;
  let proxy: CuttingProxy;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "daruma-cut-"));
    out = join(folder, "out");
    file = join(folder, "flow.yaml");
    writeFileSync(file, HELD);
    const port = await freePort();
    server = new DarumaProcess("server", ["serve", "--port", String(port), "--output-dir", out]);
    server.start();
    await untilReady(`http://127.0.0.1:${port}`, server);
    proxy = await CuttingProxy.to(port);
  });

  afterEach(async () => {
    await proxy.close();
    await server.kill();
    rmSync(folder, { recursive: true, force: true });
  });

  const daruma = (...args: string[]) =>
    runCli([...args, "--server", `http://127.0.0.1:${proxy.port}`, "--json"]);

  async function stored<Found>(read: (store: Awaited<ReturnType<typeof openSqliteStore>>) => Promise<Found>) {
    const store = await openSqliteStore({ file: join(out, "daruma.db") });
    try {
      return await read(store);
    } finally {
      await store.close();
    }
  }

  it.each(["answer", "question"] as const)("starts one run, though the first %s was lost", async (what) => {
    proxy.cutNext(what, "POST /api/v1/runs ");
    const started = await daruma("run", file, "--detach");
    expect([started.exitCode, proxy.hasCut]).toEqual([0, true]);
    expect(JSON.parse(started.stdout)).toMatchObject({ run_id: 1, workflow: "held" });
    expect(await stored((store) => store.listRuns({}))).toHaveLength(1);
  });

  it("decides a hold once, though the first answer was lost", async () => {
    expect((await daruma("run", file)).exitCode).toBe(3);
    proxy.cutNext("answer", "POST /api/v1/holds/resolve ");
    const resolved = await daruma("resolve", "1", "a", "--skip", "--reason", "fine");
    expect([resolved.exitCode, proxy.hasCut]).toEqual([0, true]);
    expect(JSON.parse(resolved.stdout)).toMatchObject({
      changed: [{ step: "a", from: "held", to: "skipped" }],
    });
    const events = await stored((store) => store.readEvents(1));
    expect(events.filter(({ event }) => event.type === "hold.resolved")).toHaveLength(1);
  });

  it("starts one run for one --key, at the server and here", async () => {
    const first = await daruma("run", file, "--detach", "--key", "nightly");
    expect((await daruma("run", file, "--detach", "--key", "nightly")).stdout).toContain('"run_id":1');
    expect(JSON.parse(first.stdout)).toMatchObject({ run_id: 1 });
    writeFileSync(file, "name: held\nsteps: { b: { exec: exit 0 } }");
    const other = await daruma("run", file, "--key", "nightly");
    expect([other.exitCode, JSON.parse(other.stdout).error.code]).toEqual([2, "KEY_REUSED"]);
    const here = join(folder, "here");
    const local = () => runCli(["run", file, "--key", "nightly", "--output-dir", here, "--json"]);
    expect((await local()).exitCode).toBe(0);
    const again = await local();
    expect([again.exitCode, JSON.parse(again.stdout)]).toMatchObject([0, { run_id: 1, status: "completed" }]);
  });
});
