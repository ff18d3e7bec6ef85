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
    await page.keyboard.press("Escape");
    await page.getByRole("alertdialog").waitFor({ state: "detached" });
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

  it("has no serious barrier in either theme, fits a phone, and shows a viewer no buttons", {
    tags: ["P9"],
  }, async () => {
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

const command = (name: string, ...words: string[]) =>
  ({ name, type: "command", timeoutMs: 10_000, command: words, env: [] }) as const;
const CHANNELS = [
  command("ops", "cat"),
  command("pager", "sh", "-c", "echo '<b>no route to host</b>' >&2; exit 3"),
];
const NOTIFY = [{ on: ["held", "failed"], to: ["ops", "pager"], when: null }] as const;
const HELD = "name: nightly\nunhandled: hold\nsteps: { load: { exec: 'exit 7' } }";

describe.skipIf(!hasBrowser)(browserSuite("notifications and settings"), { timeout: 300_000 }, () => {
  afterEach(() => {
    expect(browser.complaints.splice(0)).toEqual([]);
  });

  it("says what became of each message, with its last error, and tries a channel", {
    tags: ["N12"],
  }, async () => {
    const server = await servers.start({ channels: CHANNELS, notify: NOTIFY });
    await server.until(await server.run(HELD), "held");
    const page = await browser.open(`${server.url}/#/workers`);
    await page.getByRole("link", { name: "Notifications", exact: true }).click();
    const messages = page.getByRole("region", { name: "Messages" });
    const row = (channel: string) => messages.getByRole("row").filter({ hasText: channel });
    await row("ops").getByText("delivered", { exact: true }).waitFor();
    await row("pager").getByText("trying again").waitFor();
    await row("pager").getByText("<b>no route to host</b>").waitFor();
    await page.getByRole("button", { name: "Send a test to ops" }).click();
    await page.getByText("The test message has arrived at ops.").waitFor();
    await page.getByRole("button", { name: "Send a test to pager" }).click();
    await page.getByRole("alert").getByText("CHANNEL_FAILED").waitFor();
    await page.getByRole("link", { name: "Undelivered" }).click();
    await messages.getByText("No messages.").waitFor();
    await page.getByRole("link", { name: "Settings", exact: true }).click();
    const settings = page.getByRole("region", { name: "Settings" });
    await settings.getByRole("link", { name: "ops, pager" }).waitFor();
    expect(await settings.getByText("Kept for ever.").count()).toBe(3);
    await settings.getByRole("row", { name: /^Limits/ }).waitFor();
  });

  it("has no serious barrier in either theme, fits a phone, and shows a viewer no buttons", async () => {
    const server = await servers.start({ channels: CHANNELS, notify: NOTIFY });
    await server.until(await server.run(HELD), "held");
    const shown = { notifications: "delivered", settings: "Kept for ever." };
    for (const [theme, width] of [
      ["light", 1440],
      ["dark", 390],
    ] as const) {
      const page = await browser.open(server.url, { theme, width });
      for (const [at, words] of Object.entries(shown)) {
        await page.goto(`${server.url}/#/${at}`);
        await page.getByText(words, { exact: true }).first().waitFor();
        expect(await barriersOf(page), `${at} ${theme}`).toEqual([]);
        expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
      }
    }
    const { viewer } = await server.tokens();
    const page = await browser.open(`${server.url}/#/notifications`);
    await page.getByLabel("Token").fill(viewer);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("delivered", { exact: true }).waitFor();
    expect(await page.locator("main").getByRole("button").count()).toBe(0);
  });
});
