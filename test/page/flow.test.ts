import { rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { browserSuite, hasBrowser, TestBrowser } from "../support/browser.js";
import { ORDER, startFlow, writeFlow } from "../support/flow-program.js";
import { LiveServers } from "../support/live-server.js";
import { button, untilUsable } from "../support/page-controls.js";

const servers = new LiveServers();
const browser = new TestBrowser();

describe.skipIf(!hasBrowser)(browserSuite("the page of a flow"), { timeout: 300_000 }, () => {
  afterEach(() => {
    expect(browser.complaints.splice(0)).toEqual([]);
  });

  it("shows what the program has called, and a held step is decided while the program is not running", async () => {
    const server = await servers.start();
    const place = { path: dirname(server.outputDir), outputDir: server.outputDir };
    const bad = join(place.path, "bad");
    writeFileSync(bad, "");
    const file = writeFlow(place, ORDER);
    expect(await startFlow(place, file, "order-7")).toBe("held");
    const page = await browser.open(`${server.url}/#/runs/1`);
    page.setDefaultTimeout(15_000);
    const graph = page.locator("svg.graph");
    for (const step of ["main", "load", "parcels", "pack", "charge"])
      await graph.locator(".node", { hasText: step }).first().waitFor();
    await graph.getByRole("link", { name: /^charge\s*held/ }).click();
    await untilUsable(page, "Retry step");
    await button(page, "Retry step").click();
    const dialog = page.getByRole("alertdialog");
    await dialog.getByText("main: blocked → ready").waitFor();
    await dialog.getByText("charge: held → blocked").waitFor();
    await dialog
      .getByRole("button", { name: /^Retry/ })
      .last()
      .click();
    await dialog.waitFor({ state: "detached" });
    rmSync(bad);
    expect(await startFlow(place, file, "order-7")).toBe("completed");
    await graph.locator(".node.completed", { hasText: "ship" }).waitFor();
    await page.goto(`${server.url}/#/runs/1/charge`);
    await page.getByRole("heading", { name: "charge" }).first().waitFor();
    await page.goto(`${server.url}/#/runs/1/pack`);
    await page.getByRole("heading", { name: "pack" }).first().waitFor();
  });
});
