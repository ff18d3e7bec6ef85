import { afterEach, describe, expect, it } from "vitest";
import { barriersOf, browserSuite, hasBrowser, TestBrowser } from "../support/browser.js";
import { type LiveServer, LiveServers } from "../support/live-server.js";

const servers = new LiveServers();
const browser = new TestBrowser();

/** It starts by itself once a year. */
const YEARLY = `name: audit
schedule:
  id: new-year
  cron: "0 3 1 1 *"
  timezone: Europe/Berlin
  overlap: allow
steps: { count: { exec: "echo counted" } }
`;

async function publish(server: LiveServer, name: string, source: string): Promise<void> {
  const address = `/api/v1/workflows/${name}`;
  await server.ask("PUT", `${address}/draft`, { body: { source } });
  await server.ask("POST", `${address}/publish`, { body: {} });
}

describe.skipIf(!hasBrowser)(browserSuite("schedules"), { timeout: 300_000 }, () => {
  afterEach(() => {
    expect(browser.complaints.splice(0)).toEqual([]);
  });

  it("says what starts when, pauses with a reason, resumes, and starts a run now", {
    tags: ["K5"],
  }, async () => {
    const server = await servers.start();
    const page = await browser.open(`${server.url}/#/workflows`);
    await page.getByRole("link", { name: "Schedules", exact: true }).click();
    await page.getByText("No schedules yet").waitFor();
    await publish(server, "audit", YEARLY);
    await page.reload();
    const row = page.getByRole("row", { name: /audit\s*new-year/ });
    await row.getByText("Europe/Berlin, may overlap").waitFor();
    await row.getByText(/^in \d+ days, \d{4}-01-01 02:00:00 UTC$/).waitFor();
    await row.getByText("none yet").waitFor();
    await page.getByRole("button", { name: "Pause audit/new-year" }).click();
    await page.getByLabel("Reason, shown to others").fill("moving house");
    await page.getByRole("button", { name: "Pause audit/new-year" }).last().click();
    await row.getByText(/^Paused by local since .* UTC: moving house\.$/).waitFor();
    await page.getByRole("button", { name: "Resume audit/new-year" }).click();
    await row.getByText(/^in \d+ days/).waitFor();
    await page.getByRole("button", { name: "Run now: audit/new-year" }).click();
    await page.getByRole("button", { name: "Run now: audit/new-year" }).last().click();
    await page.getByRole("heading", { name: "audit #1" }).waitFor();
    await server.until(1, "completed");
    await page.keyboard.press("g");
    await page.keyboard.press("t");
    await row.waitFor();
  });

  it("has no serious barrier in either theme, fits a phone, and shows a viewer no buttons", async () => {
    const server = await servers.start();
    await publish(server, "audit", YEARLY);
    for (const [theme, width] of [
      ["light", 1440],
      ["dark", 390],
    ] as const) {
      const page = await browser.open(`${server.url}/#/schedules`, { theme, width });
      await page.getByText("Europe/Berlin, may overlap").waitFor();
      expect(await barriersOf(page), theme).toEqual([]);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
    }
    const { viewer } = await server.tokens();
    const page = await browser.open(`${server.url}/#/schedules`);
    await page.getByLabel("Token").fill(viewer);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("Europe/Berlin, may overlap").waitFor();
    expect(await page.locator("main").getByRole("button").count()).toBe(0);
  });
});
