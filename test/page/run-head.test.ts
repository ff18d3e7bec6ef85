import { afterEach, describe, expect, it } from "vitest";
import { browserSuite, hasBrowser, TestBrowser } from "../support/browser.js";
import { LiveServers } from "../support/live-server.js";
import { button, untilUsable } from "../support/page-controls.js";
import { ENDING, MENDED, QUEUED } from "../support/run-page.js";

const servers = new LiveServers();
const browser = new TestBrowser();

describe.skipIf(!hasBrowser)(browserSuite("the head of a run"), { timeout: 300_000 }, () => {
  afterEach(() => {
    expect(browser.complaints.splice(0)).toEqual([]);
  });

  it("cancels now, from the dialog or while undo and finally steps run, and says what the run is at", async () => {
    const server = await servers.start();
    const run = await server.run(ENDING);
    await server.until(run, "held");
    const page = await browser.open(`${server.url}/#/runs/${run}`);
    await page.getByText(/^Expires in .*, then skip$/).waitFor();
    await untilUsable(page, "Cancel");
    await button(page, "Cancel").click();
    const dialog = page.getByRole("alertdialog");
    await dialog.getByLabel("Now, without undo and finally steps").check();
    await dialog.getByText(`run ${run}: held → canceled`).waitFor();
    await dialog.getByRole("button", { name: `Cancel run ${run} now` }).waitFor();
    await dialog.getByLabel("Now, without undo and finally steps").uncheck();
    await dialog.getByText("give-back: new → ready").waitFor();
    await dialog.getByRole("button", { name: `Cancel run ${run}`, exact: true }).click();
    await page.getByText("Running, undoing what it did", { exact: true }).waitFor();
    await page.getByText("give-back undoes take.", { exact: true }).waitFor();
    await page.getByText("1 to undo", { exact: true }).waitFor();
    await untilUsable(page, "Cancel now");
    await button(page, "Cancel now").click();
    await dialog.getByRole("button", { name: `Cancel run ${run} now` }).click();
    await server.until(run, "canceled");
    await page.getByText("1 not undone", { exact: true }).waitFor();
  });

  it("says in its head what it waits for, its loops and version; what has no room wraps on focus", async () => {
    const server = await servers.start();
    const labels = {
      team: "platform-and-developer-experience",
      environment: "staging-eu-west",
      ticket: "INFRA-20418",
    };
    const ids = [await server.run(QUEUED), await server.run(QUEUED, { labels })];
    const page = await browser.open(`${server.url}/#/runs/${ids[1]}`, { width: 1280 });
    const head = page.getByRole("region", { name: "About this run" });
    const wait = head.getByText(`Position 1 in the queue: it waits for run ${ids[0]}`);
    await wait.waitFor();
    await expect.poll(() => head.getAttribute("title")).toContain("ticket=INFRA-20418");
    const label = head.getByText("ticket=INFRA-20418");
    const isSeen = async (): Promise<boolean> => {
      const [box, around] = [(await label.boundingBox())!, (await head.boundingBox())!];
      return (
        box.y + box.height <= around.y + around.height + 1 && box.x + box.width <= around.x + around.width + 1
      );
    };
    expect(await isSeen()).toBe(false);
    await head.focus();
    await expect.poll(isSeen).toBe(true);
    for (const id of ids)
      await server.ask("POST", `/api/v1/runs/${id}/control`, { body: { action: "cancel" } });
    for (const id of ids) await server.until(id, "canceled");

    const asks = await server.run(
      "name: ask\nsteps: { ok: { type: human, prompt: 'Ship it?', choices: [yes, no], expires: 2h, then: fail } }",
    );
    await page.goto(`${server.url}/#/runs/${asks}`);
    await head.getByText("Asks a question", { exact: true }).waitFor();
    await page.getByText(/^Expires in .*, then fail$/).waitFor();
    await page.locator("svg.graph .node.held", { hasText: "ok" }).waitFor();

    const mended = await server.run(MENDED);
    await server.until(mended, "completed");
    await page.goto(`${server.url}/#/runs/${mended}`);
    await head.getByText("1 of 10 loops", { exact: true }).waitFor();
    expect(await head.getByText(/^v1, started/).isVisible()).toBe(false);
    expect(await page.locator(".legend").isVisible()).toBe(false);
    await button(page, "Key").click();
    await page.getByText("recovery, in order").waitFor();
    await page.setViewportSize({ width: 1440, height: 900 });
    await head.getByText(/^v1, started \d\d:\d\d:\d\d UTC$/).waitFor();
    // Narrower, the second pane is a drawer over the first.
    await page.setViewportSize({ width: 1000, height: 900 });
    const pane = page.getByRole("region", { name: "How it went" });
    const graph = (await page.locator("svg.graph").boundingBox())!;
    expect(graph.width).toBeGreaterThan(900);
    expect((await pane.boundingBox())!.x).toBeLessThan(graph.x + graph.width);
    await page.getByRole("button", { name: "Close this pane" }).click();
    await pane.waitFor({ state: "hidden" });
    await button(page, "Story").click();
    await pane.waitFor();
  });
});
