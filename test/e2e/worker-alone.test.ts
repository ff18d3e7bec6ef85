import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { DarumaProcess, eventually } from "../support/daruma-process.js";
import { freePort } from "../support/free-port.js";

const folder = mkdtempSync(join(tmpdir(), "daruma-alone-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("a worker without a server", () => {
  it("goes at the first signal, though it has never reached one", async () => {
    const nobody = `http://127.0.0.1:${await freePort()}`;
    const worker = new DarumaProcess("alone", ["worker", "--server", nobody, "--output-dir", folder]);
    worker.start();
    await eventually("a word about the server", () => worker.output.includes("cannot reach"));
    expect(await worker.stop()).toBe(0);
    expect(worker.output).toContain("has left");
  });

  it("is refused where the address is none", async () => {
    const worker = new DarumaProcess("alone", ["worker", "--server", "notaurl", "--output-dir", folder]);
    worker.start();
    expect(await worker.ended()).toBe(2);
    expect(worker.output).toContain("invalid server address notaurl");
  });
});
