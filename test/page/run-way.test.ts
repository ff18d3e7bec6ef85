import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { browserSuite, hasBrowser, TestBrowser } from "../support/browser.js";
import { type LiveServer, LiveServers } from "../support/live-server.js";
import { refuses, untilUsable } from "../support/page-controls.js";
import { MENDED, SLOW, SPREAD } from "../support/run-page.js";

const browser = new TestBrowser();
const servers = new LiveServers({ perFile: true });
let server: LiveServer;

describe.skipIf(!hasBrowser)(browserSuite("the way through a run"), { timeout: 300_000 }, () => {
  beforeAll(async () => {
    server = await servers.start();
  });
  afterEach(() => {
    expect(browser.complaints.splice(0)).toEqual([]);
  });

  it("goes to the past and back, by slider, keys and address; what it shows is of that moment", {
    tags: ["P2"],
  }, async () => {
    const run = await server.run(MENDED);
    await server.until(run, "completed");
    const { body } = await server.ask<{ items: { seq: number; type: string }[] }>(
      "GET",
      `/api/v1/runs/${run}/events?limit=1000`,
    );
    const retried = body.items.find(({ type }) => type === "retry.scheduled")!.seq;
    const last = body.items.at(-1)!.seq;
    const page = await browser.open(`${server.url}/#/runs/${run}`);
    const graph = page.getByRole("region", { name: "Graph" });
    await graph.getByRole("link", { name: /^undo\s*completed/ }).waitFor();
    const before = await graph.locator("svg.graph").boundingBox();
    await page.goto(`${server.url}/#/runs/${run}?at=${retried}`);
    await page.getByText("Was running, recovering at this moment").waitFor();
    await graph.getByRole("link", { name: /^undo\s*blocked/ }).waitFor();
    await page.getByText(new RegExp(`^event ${retried} of ${last}, .*: retry.scheduled$`)).waitFor();
    // The step that needs a look stays chosen, and the graph stays as it is.
    await page.locator(".selbar").getByText("blocked at this moment").waitFor();
    expect(await graph.locator(".node.selected").count()).toBe(1);
    await refuses(page, "Fork", "You are looking at the past. Go back to the end to act.");
    expect(await page.getByText("1 recovery", { exact: true }).count()).toBe(1);
    expect(await graph.locator("svg.graph").boundingBox()).toEqual(before);
    await page.keyboard.press("]");
    await page.getByText(`event ${retried + 1} of ${last}`).waitFor();
    await page.keyboard.press("}");
    await page.getByText("2 recoveries", { exact: true }).waitFor();
    await page.keyboard.press("0");
    await page.getByText(`End of the log, ${last} events`).waitFor();
    await graph.getByRole("link", { name: /^undo\s*completed/ }).waitFor();
    await untilUsable(page, "Fork");
    await page.getByLabel("Moment in the log").fill("10");
    await page.getByText("Past", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Back to the end" }).click();
    await page.getByText(`End of the log, ${last} events`).waitFor();
  });

  it("keeps every step in its place while somebody goes through the past", { tags: ["P2"] }, async () => {
    const run = await server.run(SPREAD);
    await server.until(run, "completed");
    const page = await browser.open(`${server.url}/#/runs/${run}`);
    const graph = page.getByRole("region", { name: "Graph" });
    const places = (): Promise<string[]> =>
      graph
        .locator("svg.graph > g, svg.graph .node")
        .evaluateAll((all) => all.map((each) => each.getAttribute("transform")!));
    await graph.getByText("12 items").waitFor();
    const before = await places();
    expect(before).toHaveLength(5);
    await page.goto(`${server.url}/#/runs/${run}?at=2`);
    await graph.getByRole("link", { name: /^each\s*blocked/ }).waitFor();
    expect(await graph.getByText("12 items").count()).toBe(0);
    expect(await places()).toEqual(before);
  });

  it("goes along the edges, opens the step, asks for a retry and goes back by keys", async () => {
    const run = await server.run(MENDED);
    await server.until(run, "completed");
    const page = await browser.open(`${server.url}/#/runs/${run}`);
    const crumbs = page.locator(".crumbs");
    await crumbs.getByRole("link", { name: "mended" }).waitFor();
    expect(await crumbs.textContent()).toBe(`Runs/mended/#${run}`);
    await page.locator(".selbar").getByText("canary", { exact: true }).waitFor();
    await untilUsable(page, "Retry step");
    await page.keyboard.press("r");
    await page
      .getByRole("dialog", { name: /^Retry canary/ })
      .or(page.getByRole("alertdialog"))
      .waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("ArrowUp");
    await page.locator(".selbar").getByText("completed on attempt 2").waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(`**/#/runs/${run}/build`);
    await expect.poll(() => crumbs.textContent()).toBe(`Runs/mended/#${run}/build`);
    await page.goBack();
    await page.locator(".selbar").waitFor();
    await page.keyboard.press("Escape");
    await page.waitForURL("**/#/runs");
  });

  it("tells how often a rung acted, what never began, what happened to which step, and what steps can read", async () => {
    const run = await server.run(MENDED);
    await server.until(run, "completed");
    const page = await browser.open(`${server.url}/#/runs/${run}`);
    const story = page.locator(".story");
    await story
      .getByLabel(/^Ladder: .*retry acted 2 times/)
      .first()
      .waitFor();
    expect(await story.locator(".er").first().textContent()).toBe("mirror is busy");
    // A repair is part of the recovery that it was for.
    expect(await story.locator(".flat").allTextContents()).toEqual(["undo completed."]);
    const end = story.locator("li.last");
    await end.getByText(`Run ${run} completed, 1 failure handled`).waitFor();
    await end.getByText(/page was skipped\.$/).waitFor();
    await page.goto(`${server.url}/#/runs/${run}?tab=events`);
    const started = page.locator(".ev", { hasText: "attempt.succeeded" }).first();
    expect(await started.locator(".of").textContent()).toBe("deps ");
    expect(await started.textContent()).not.toContain("output");
    await page.goto(`${server.url}/#/runs/${run}?tab=state`);
    await page.getByText("This run has no inputs.").waitFor();
    await page.getByText(/^No error is kept/).waitFor();
    await page.getByText("nothing", { exact: true }).first().waitFor();
  });

  it("draws the whole timeline within a phone", { tags: ["P18"] }, async () => {
    const run = await server.run(MENDED);
    await server.until(run, "completed");
    const page = await browser.open(`${server.url}/#/runs/${run}?tab=timeline`, { width: 390 });
    await page.locator(".gantt").waitFor();
    await page.getByText(/page was skipped\. Running/).waitFor();
    const widths =
      "[...document.querySelectorAll('.gantt rect')].map((each) => each.getBoundingClientRect().right)";
    const rights = (await page.evaluate(widths)) as number[];
    expect(Math.max(...rights)).toBeLessThanOrEqual(390);
    const text =
      "Math.min(...[...document.querySelectorAll('.gantt a text')].map((each) => each.getBoundingClientRect().height))";
    expect((await page.evaluate(text)) as number).toBeGreaterThan(11);
    const end = page.locator(".gantt .nowline title");
    expect(await end.textContent()).toMatch(/^end of the run, after /);
    const going = await server.run(SLOW);
    await server.until(going, "running");
    await page.goto(`${server.url}/#/runs/${going}?tab=timeline`);
    await page.locator(".gantt rect.live").waitFor();
    expect(await end.count()).toBe(0);
  });
});
