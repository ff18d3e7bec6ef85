import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer } from "node:tls";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { openStore } from "../../src/run/wiring/open-store.js";
import { CuttingProxy } from "../support/cutting-proxy.js";
import { DarumaProcess, eventually, untilReady } from "../support/daruma-process.js";
import { freePort } from "../support/free-port.js";

const LEASE_SECONDS = 2;
/** Of the message with which a worker reports an attempt. */
const REPORT = "/reports";

const folder = mkdtempSync(join(tmpdir(), "daruma-answers-"));
let ending: (() => Promise<unknown>)[] = [];
let trials = 0;

afterEach(async () => {
  for (const end of ending) await end();
  ending = [];
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A server, a worker behind a line that can be cut, and a run of two steps that say when they run. */
async function begin() {
  trials += 1;
  const own = join(folder, String(trials));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const server = start("server", [
    ...["serve", "--port", String(port), "--output-dir", join(own, "server"), "--max-parallel", "0"],
    ...["--lease", String(LEASE_SECONDS)],
  ]);
  await untilReady(url, server);
  const proxy = await CuttingProxy.to(port);
  ending.push(() => proxy.close());
  const work = (name: string, at = `http://127.0.0.1:${proxy.port}`, env = {}): DarumaProcess =>
    start(name, ["worker", "--server", at, "--name", name, "--slots", "1", "--output-dir", own], env);
  const ran = join(own, "ran");
  const run = async (): Promise<void> => {
    const steps = {
      a: { exec: `echo a >> ${ran}` },
      b: { exec: `echo b >> ${ran}`, depends_on: ["a"] },
    };
    const answer = await fetch(`${url}/api/v1/runs`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ source: JSON.stringify({ name: "two", steps }) }),
    });
    expect(answer.status).toBe(201);
  };
  /** What became of it: what ran, in order, and every attempt with its outcome. */
  const end = async () => {
    await eventually("the end of the run", async () => {
      const shown = await fetch(`${url}/api/v1/runs/1`).then(
        async (answer) => (await answer.json()) as { status: string },
        () => null,
      );
      return shown?.status === "completed";
    });
    const store = await openStore(undefined, join(own, "server"));
    const attempts = await store.readAttempts(1);
    await store.close();
    const outcomes = attempts.map((one) => `${one.job_id % 10} ${one.error?.code ?? one.status}`);
    return { ran: readFileSync(ran, "utf8").trim().split("\n"), attempts: outcomes };
  };
  return { server, proxy, work, run, end, url, own, port };
}

function start(name: string, args: readonly string[], env = {}): DarumaProcess {
  const process = new DarumaProcess(name, args, env);
  process.start();
  ending.push(() => process.kill());
  return process;
}

const hasB = (answer: Buffer): boolean => answer.includes('"stepId":"b"');

describe("the next step comes with the answer to the report of the last one, and where that answer is lost", () => {
  it("on a connection that breaks, it is given to the worker again and runs once", async () => {
    const { proxy, work, run, end } = await begin();
    let lost = false;
    proxy.cutNext("answer", REPORT, (answer) => {
      lost = hasB(answer);
    });
    work("w1");
    await run();
    expect(await end()).toEqual({ ran: ["a", "b"], attempts: ["1 succeeded", "2 succeeded"] });
    expect(lost).toBe(true);
  });

  it("on a line that falls silent, it is given to the worker again within a lease and runs once", async () => {
    const { proxy, work, run, end } = await begin();
    proxy.cutNext("silent answer", REPORT);
    work("w1");
    await run();
    expect(await end()).toEqual({ ran: ["a", "b"], attempts: ["1 succeeded", "2 succeeded"] });
    expect(proxy.hasCut).toBe(true);
  });

  it("because the worker was killed, it comes back by its lease and runs once, elsewhere", async () => {
    const { proxy, work, run, end } = await begin();
    let lost = false;
    const doomed = work("doomed");
    proxy.cutNext("answer", REPORT, (answer) => {
      doomed.signal("SIGKILL");
      lost = hasB(answer);
    });
    await run();
    await doomed.ended();
    work("heir");
    expect(await end()).toEqual({
      ran: ["a", "b"],
      attempts: ["1 succeeded", "2 WORKER_LOST", "2 succeeded"],
    });
    expect(lost).toBe(true);
  });

  it("because the server was killed, the next server gives it out anew and it runs once", async () => {
    const { server, proxy, work, run, end, url } = await begin();
    let lost = false;
    proxy.cutNext("answer", REPORT, (answer) => {
      server.signal("SIGKILL");
      lost = hasB(answer);
    });
    work("w1");
    await run();
    await server.ended();
    server.start();
    await untilReady(url, server);
    expect(await end()).toEqual({
      ran: ["a", "b"],
      attempts: ["1 succeeded", "2 WORKER_LOST", "2 succeeded"],
    });
    expect(lost).toBe(true);
  });
});

describe("a server that is killed when a report has come", () => {
  it("takes the result in its next life, and nothing runs twice", async () => {
    const { server, proxy, work, run, end, url } = await begin();
    proxy.cutNext("silent answer", REPORT, () => server.signal("SIGKILL"));
    work("w1");
    await run();
    await server.ended();
    server.start();
    await untilReady(url, server);
    const { ran, attempts } = await end();
    expect(ran).toEqual(["a", "b"]);
    expect(attempts.filter((one) => one.endsWith("succeeded"))).toEqual(["1 succeeded", "2 succeeded"]);
  });
});

describe("a worker whose server speaks TLS", () => {
  it("works for it where it trusts its certificate, and says so where it does not", async () => {
    const { work, run, end, own, port } = await begin();
    const [key, cert] = [join(own, "key.pem"), join(own, "cert.pem")];
    const words = [
      ...["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", cert, "-days", "1"],
      ...["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"],
    ];
    execFileSync("openssl", words, { stdio: "ignore" });
    const secure = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (socket) => {
      const inner = connect(port, "127.0.0.1");
      for (const one of [socket, inner]) one.on("error", () => [socket, inner].map((each) => each.destroy()));
      socket.pipe(inner).pipe(socket);
    });
    await new Promise<void>((resolve) => secure.listen(0, "127.0.0.1", resolve));
    ending.push(async () => secure.close());
    const at = `https://localhost:${(secure.address() as { port: number }).port}`;
    const stranger = work("stranger", at);
    await eventually("a refusal", () => stranger.output.includes("self-signed certificate"));
    await stranger.kill();
    work("friend", at, { NODE_EXTRA_CA_CERTS: cert });
    await run();
    expect(await end()).toEqual({ ran: ["a", "b"], attempts: ["1 succeeded", "2 succeeded"] });
    expect(existsSync(join(own, "workers", "friend"))).toBe(true);
  });
});
