import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { threadEntry } from "../thread-entry.js";
import { NativeGate } from "./native-gate.js";

const run = promisify(execFile);

test("nothing passes once it is shut, not even from the thread's other end", () => {
  const memory = NativeGate.memory();
  const [ofThread, ofProcess] = [new NativeGate(memory), new NativeGate(memory)];
  const done: string[] = [];
  ofThread.pass(() => done.push("before"));
  ofProcess.shut();
  ofThread.pass(() => done.push("after"));
  expect(done).toEqual(["before"]);
});

test("what fails leaves it open", () => {
  const gate = new NativeGate(NativeGate.memory());
  expect(() =>
    gate.pass(() => {
      throw new Error("busy");
    }),
  ).toThrow("busy");
  const done: string[] = [];
  gate.pass(() => done.push("next"));
  expect(done).toEqual(["next"]);
});

test("a process that leaves waits for what its database thread has begun", async () => {
  const folder = mkdtempSync(join(tmpdir(), "daruma-gate-"));
  const entry = join(folder, "thread.mjs");
  const built = (name: string): string => JSON.stringify(threadEntry(import.meta.url, name).href);
  writeFileSync(
    entry,
    `import { writeSync } from "node:fs";
    import { parentPort, workerData } from "node:worker_threads";
    import { NativeGate } from ${built("./native-gate.js")};
    const gate = new NativeGate(workerData);
    gate.pass(() => {
      parentPort.postMessage("begun");
      for (const end = performance.now() + 300; performance.now() < end; );
      writeSync(1, "finished");
    });`,
  );
  const program = `
    import { startDatabaseThread } from ${built("./database-thread.js")};
    const thread = startDatabaseThread(new URL(${JSON.stringify(pathToFileURL(entry).href)}));
    thread.ref();
    thread.once("message", () => process.exit(3));`;
  const left = run(process.execPath, ["--input-type=module", "-e", program]);
  await expect(left).rejects.toMatchObject({ code: 3, stdout: "finished" });
  rmSync(folder, { recursive: true });
});
