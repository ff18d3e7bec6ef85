import { statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { OperationBench } from "../support/operation-bench.js";

const bench = new OperationBench();
const NOTICE =
  "\n[daruma: the logs of this attempt have reached max_log (2000 bytes); the rest is dropped]\n";

async function logOf(job_id: number, stream: "stdout" | "stderr") {
  return bench.call("get_job_logs", { job_id, stream, limit_bytes: 1_000_000 });
}

describe("what an attempt prints beyond max_log", () => {
  it("is dropped, both logs say so, and the step goes on to its own end", async () => {
    const { status, jobs } = await bench.run(`max_log: 2000
steps:
  chatty:
    type: command
    exec: "yes 123456789 | head -c 1500; yes abcdefghi | head -c 5000 >&2; echo last words >&2; yes lost | head -c 5000; exit 3"`);
    expect(status).toBe("failed");
    const [stdout, stderr] = [await logOf(jobs[0]!.id, "stdout"), await logOf(jobs[0]!.id, "stderr")];
    const room = 2_000 * 2 + NOTICE.length * 2;
    expect(stdout.size + stderr.size).toBeLessThan(room);
    expect(stdout.size + stderr.size - NOTICE.length * 2).toBe(2_000);
    for (const log of [stdout, stderr]) {
      expect(log.text.endsWith(NOTICE)).toBe(true);
      expect(log.truncated).toBe(true);
    }
    // The error has the end of what was printed all the same.
    expect(jobs[0]!.error).toMatchObject({
      code: "EXIT_3",
      stderr_tail: expect.stringMatching(/last words\n$/),
    });
  });

  it("what is within it is whole, up to the last byte", async () => {
    const { jobs } = await bench.run(`max_log: 2000
steps: { exact: { type: command, exec: "yes 123456789 | head -c 2000" } }`);
    expect(await logOf(jobs[0]!.id, "stdout")).toMatchObject({ size: 2_000, truncated: false });
  });

  it("a compressed body that is small on its way counts as it is written", async () => {
    const server = createServer((_, reply) => {
      reply.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(Buffer.alloc(20_000_000, "x")));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const { jobs, status } = await bench.run(`max_log: 2000
steps: { bomb: { type: http, url: "http://127.0.0.1:${port}/" } }`);
    server.close();
    expect(status).toBe("completed");
    const log = await logOf(jobs[0]!.id, "stdout");
    expect(statSync(log.file).size).toBe(2_000 + NOTICE.length);
    expect(log.truncated).toBe(true);
  });
});
