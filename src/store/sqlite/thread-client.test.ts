import { expect, test } from "vitest";
import { startDatabaseThread } from "./database-thread.js";
import { ThreadClient } from "./thread-client.js";

/** A thread that runs this code. */
function threadOf(code: string): ThreadClient {
  const entry = new URL(`data:text/javascript,${encodeURIComponent(code)}`);
  return new ThreadClient(startDatabaseThread(entry), "/data/daruma.db");
}

const CRASHES_AT_THE_SECOND_CALL = `
  import { parentPort } from "node:worker_threads";
  let calls = 0;
  parentPort.on("message", () => { calls += 1; if (calls === 2) throw new Error("out of luck"); });`;

test("a crashed thread fails every call that waits, and every later one, with the file and the reason", async () => {
  const client = threadOf(CRASHES_AT_THE_SECOND_CALL);
  const calls = [client.call("reserveRunId"), client.call("readAnswer", 1)];
  const reasons = await Promise.all(calls.map((call) => call.catch((error: unknown) => error)));
  const crashed = {
    code: "STORE_FAILED",
    message: "/data/daruma.db: the database thread crashed: out of luck",
  };
  expect(reasons).toMatchObject([crashed, crashed]);
  await expect(client.call("reserveRunId")).rejects.toMatchObject(crashed);
  await client.close();
});

test("a thread that ends without a word fails the calls that wait", async () => {
  const client = threadOf(
    `import { parentPort } from "node:worker_threads"; parentPort.once("message", () => process.exit(3));`,
  );
  await expect(client.call("reserveRunId")).rejects.toMatchObject({
    code: "STORE_FAILED",
    message: "/data/daruma.db: the database thread ended (code 3)",
  });
});
