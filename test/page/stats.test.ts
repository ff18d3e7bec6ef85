import { afterEach, describe, expect, it } from "vitest";
import { barriersOf, browserSuite, hasBrowser, TestBrowser } from "../support/browser.js";
import { type LiveServer, LiveServers } from "../support/live-server.js";
import { putAllocations } from "../support/page-allocations.js";
import { refuses, untilUsable } from "../support/page-controls.js";
import { putQuarantine } from "../support/page-demo.js";

const servers = new LiveServers();
const browser = new TestBrowser();

const FLAKY = `
name: flaky
steps:
  fetch: { exec: '[ "$DARUMA_ATTEMPT_ID" -ge 2 ]', on_fail: { retry: { max: 1, backoff: { delay_ms: 1 } } } }
`;
const FAILING =
  "name: failing\nsteps: { build: { exec: 'echo \"<img src=x onerror=alert(1)>\" >&2; exit 3' } }";
const ASKING = "name: asking\nsteps: { ask: { type: human, prompt: 'Go?', choices: [go] } }";
const GRAPHICS = `
name: graphics
breakers: { disk: {} }
steps:
  render: { exec: "true", runs_on: [gpu] }
  store: { exec: "true", uses: disk }
`;

/** What a phone could only read by moving it sideways. */
const SIDEWAYS = `[...document.querySelectorAll("main *")]
  .filter((each) => each.scrollWidth > each.clientWidth + 1 && /auto|scroll/.test(getComputedStyle(each).overflowX))
  .map((each) => each.className)`;

/** Answers once the step asks. */
async function answer(server: LiveServer, run: number): Promise<number> {
  const jobs = [await server.job(run, "ask")];
  const body = { jobs, action: "answer", choice: "go" };
  return (await server.ask("POST", "/api/v1/problems/decide", { body })).status;
}

/** One run that was rescued, two that failed, one with a question that somebody answered, one that waits for a worker; a worker in quarantine. */
async function fill(server: LiveServer): Promise<void> {
  await server.until(await server.run(FLAKY, { labels: { team: "core" } }), "completed");
  for (let n = 0; n < 2; n += 1) await server.until(await server.run(FAILING), "failed");
  const asking = await server.run(ASKING);
  await expect.poll(() => answer(server, asking)).toBe(200);
  await server.until(asking, "completed");
  await server.run(GRAPHICS);
  await putQuarantine(server, "gpu-1");
}

describe.skipIf(!hasBrowser)(browserSuite("statistics and workers"), { timeout: 300_000 }, () => {
  afterEach(() => {
    expect(browser.complaints.splice(0)).toEqual([]);
  });

  it("shows rescued against failed, and what helped, for what the address asks for", async () => {
    const server = await servers.start();
    await fill(server);
    const page = await browser.open(`${server.url}/#/statistics`);
    const chart = page.getByRole("region", { name: "Outcome of runs" });
    const today = chart.locator("tbody tr").last();
    await expect.poll(() => today.locator("td").allTextContents()).toEqual(["1", "1", "0", "0", "2"]);
    expect(await chart.locator("tbody tr").count()).toBe(28);
    expect(await chart.locator("rect.c-rescued, rect.c-failed").count()).toBe(2);
    const rungs = page.getByRole("region", { name: "What rescued runs" });
    await rungs.getByRole("row", { name: "retry 1 of 1" }).waitFor();
    await page.getByText(/^1 decided, median wait .+$/).waitFor();
    await page.getByText("<img src=x onerror=alert(1)>").waitFor();
    await page.getByRole("region", { name: "Flaky steps" }).getByRole("link", { name: "fetch" }).waitFor();
    await page.getByLabel("Workflow").selectOption("flaky");
    await expect.poll(() => today.locator("td").allTextContents()).toEqual(["0", "1", "0", "0", "0"]);
    expect(new URL(page.url()).hash).toBe("#/statistics?window=28d&workflow=flaky");
    await page.getByRole("link", { name: "24 h" }).click();
    await expect.poll(() => chart.locator("tbody tr").count()).toBe(24);
    await page.getByLabel("Label").fill("team=nobody");
    await page.getByLabel("Label").press("Enter");
    await page.getByText("No runs in the last 24 h that match").waitFor();
    await page.getByRole("link", { name: "Clear the filter", exact: true }).click();
    await expect.poll(() => today.locator("td").allTextContents()).toEqual(["1", "1", "0", "0", "2"]);
  });

  it("says what waits for a worker, releases a worker and opens a breaker with a reason", async () => {
    const server = await servers.start();
    await fill(server);
    const page = await browser.open(`${server.url}/#/workers`);
    const waiting = page.getByRole("region", { name: "What waits for a worker" });
    await waiting.getByText("1 job is ready and has no worker").waitFor();
    const own = page.getByRole("row", { name: /the server's own/ });
    expect(await own.locator("i.dot:not(.lost)").count()).toBe(1);
    await page.getByText(/^A worker is quarantined when three jobs in a row/).waitFor();
    await waiting.getByText("no connected worker has the tags gpu").waitFor();
    await page.getByText("3 jobs failed on it that cpu-1 completed.").waitFor();
    await page.getByRole("button", { name: "Release gpu-1" }).click();
    await page.getByLabel("Reason, shown to others").fill("the disk has room again");
    await page.getByRole("button", { name: "Release gpu-1" }).last().click();
    await expect.poll(() => page.getByText("quarantined", { exact: true }).count()).toBe(0);
    await page.getByRole("button", { name: "Open graphics/disk" }).click();
    await page.getByLabel("Reason, shown to others").fill("maintenance");
    await page.getByRole("button", { name: "Open graphics/disk" }).last().click();
    await page
      .getByText(/^Since .* UTC by local: maintenance\. It stays open until somebody closes it\.$/)
      .waitFor();
    await page.getByRole("button", { name: "Close graphics/disk" }).click();
    await page.getByRole("button", { name: "Leave it as it is" }).click();
    const { body } = await server.ask<{ items: { name: string; state: string }[] }>(
      "GET",
      "/api/v1/breakers",
    );
    expect(body.items).toMatchObject([{ name: "graphics/disk", state: "open" }]);
  });

  it("lists allocations, names a few of their nodes and drains each once", { tags: ["P18"] }, async () => {
    const server = await servers.start();
    await putAllocations(server);
    const page = await browser.open(`${server.url}/#/workers`);
    const list = page.getByRole("region", { name: "Allocations" });
    await list.getByText("node1, node2, node3 and 3 more").waitFor();
    await untilUsable(page, "Drain hpc/4711");
    await refuses(page, "Drain hpc/4712", "It is being drained already");
    expect(await barriersOf(page)).toEqual([]);
    await page.setViewportSize({ width: 390, height: 900 });
    expect(await page.evaluate(SIDEWAYS)).toEqual([]);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(390);
  });

  it("has no serious barrier in either theme, fits a phone, and shows a viewer no buttons", {
    tags: ["P9", "P18"],
  }, async () => {
    const server = await servers.start();
    await fill(server);
    const found: { [at: string]: string[] } = {};
    const shown = { statistics: "Flaky steps", workers: "quarantined", workflows: "graphics" };
    for (const [theme, width] of [
      ...["light", "dark"].map((each) => [each, 1440] as const),
      ["light", 390] as const,
    ]) {
      const page = await browser.open(server.url, { theme, width });
      for (const [at, words] of Object.entries(shown)) {
        await page.goto(`${server.url}/#/${at}`);
        await page.getByText(words).first().waitFor();
        const barriers = await barriersOf(page);
        if (barriers.length > 0) found[`${at} ${theme} ${width}`] = barriers;
        expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
        if (width === 390) expect(await page.evaluate(SIDEWAYS), at).toEqual([]);
      }
    }
    expect(found).toEqual({});
    const { viewer } = await server.tokens();
    const page = await browser.open(`${server.url}/#/workers`);
    await page.getByLabel("Token").fill(viewer);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("quarantined", { exact: true }).waitFor();
    expect(await page.locator("main").getByRole("button").count()).toBe(0);
  });
});
