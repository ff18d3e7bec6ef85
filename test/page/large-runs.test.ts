import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { startServer } from "../../src/cli/server/start-server.js";
import { browserSuite, hasBrowser, TestBrowser } from "../support/browser.js";
import { EventFlood } from "../support/event-flood.js";
import { LiveServer } from "../support/live-server.js";
import { FAN_OUT, MENDED, WATCH_FRAMES } from "../support/run-page.js";

const browser = new TestBrowser();
const folder = mkdtempSync(join(tmpdir(), "daruma-large-run-"));
let server: LiveServer;

describe.skipIf(!hasBrowser)(browserSuite("the page of a large run"), { timeout: 300_000 }, () => {
  beforeAll(async () => {
    const outputDir = join(folder, "out");
    const running = await startServer({
      ...{ port: 0, maxParallel: 4, checkOutput: true, requestsPerMinute: 0, outputDir },
      onFault: () => {},
    });
    server = new LiveServer(running, outputDir, []);
  });
  afterAll(async () => {
    await server?.close();
    rmSync(folder, { recursive: true, force: true });
  });
  afterEach(() => {
    expect(browser.complaints.splice(0)).toEqual([]);
  });

  it("shows a fan-out of 40,000 items as one card, without reading them all", {
    tags: ["P8"],
  }, async () => {
    const run = await server.run(FAN_OUT);
    await expect
      .poll(async () => (await server.running.store.readJobNames(run, { afterId: 0, limit: 50_000 })).length)
      .toBe(40_001);
    const page = await browser.open("about:blank");
    const asked: URL[] = [];
    page.on("request", (request) => asked.push(new URL(request.url())));
    await page.goto(`${server.url}/#/runs/${run}?tab=events`);
    await page.getByText(/^40000 items: /).waitFor();
    expect(await page.evaluate("document.querySelectorAll('*').length")).toBeLessThan(3_000);
    await page.locator(".ev").first().waitFor();
    // Only items that events in the window name are read, with their neighbours.
    const jobs = asked.filter(({ pathname }) => pathname.endsWith("/jobs"));
    expect(jobs.length).toBeLessThan(10);
    expect(jobs.every(({ searchParams }) => Number(searchParams.get("limit")) <= 100)).toBe(true);
    await page.getByRole("link", { name: "Timeline" }).click();
    await page.locator(".gantt .band").waitFor();
    await server.ask("POST", `/api/v1/runs/${run}/control`, { body: { action: "cancel" } });
    await server.until(run, "canceled");
  });

  it("stays usable while 10,000 events a second come for ten seconds", { tags: ["P8"] }, async () => {
    const run = await server.run(MENDED);
    await server.until(run, "completed");
    const flood = await EventFlood.before(server.url, { runId: run, perSecond: 10_000, seconds: 10 });
    try {
      const page = await browser.open(`${flood.url}/#/runs/${run}`);
      await page.getByText("retried twice").waitFor();
      await page.evaluate(WATCH_FRAMES);
      const asked = performance.now();
      await page.getByRole("link", { name: "Timeline" }).click();
      await page.locator(".gantt").waitFor();
      await page.getByRole("link", { name: /^Events/ }).click();
      await page.locator(".ev").first().waitFor();
      const answeredMs = Math.round(performance.now() - asked);
      await expect.poll(() => flood.isOver).toBe(true);
      const met = (await page.evaluate("window.frames_met")) as { longest: number; changes: number };
      console.log(
        `10,000 events a second: ${flood.sent} events, longest frame ${Math.round(met.longest)} ms, two clicks answered after ${answeredMs} ms, ${met.changes} changes of the page`,
      );
      expect(flood.sent).toBe(100_000);
      expect(met.changes).toBeLessThan(5_000);
      expect(await page.evaluate("document.querySelectorAll('*').length")).toBeLessThan(3_000);
    } finally {
      flood.close();
    }
  });
});
