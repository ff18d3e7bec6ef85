import { afterEach, describe, expect, it } from "vitest";
import { browserSuite, hasBrowser, TestBrowser } from "../support/browser.js";
import { LiveServers } from "../support/live-server.js";

const servers = new LiveServers();
const browser = new TestBrowser();

describe.skipIf(!hasBrowser)(browserSuite("a problem of the inbox"), { timeout: 300_000 }, () => {
  afterEach(() => {
    expect(browser.complaints.splice(0)).toEqual([]);
  });

  it("tells what each attempt came to, what is blocked layer by layer, and the numbers of lines in the log", {
    tags: ["P20"],
  }, async () => {
    const server = await servers.start();
    const run = await server.run(`
name: nightly
unhandled: hold
steps:
  load:
    exec: |
      seq 1 2000
      seq -f "progress of the long import, row %g" 1 3000 >&2
      echo "ERROR: the table is locked" >&2
      exit 7
    on_fail: { retry: { max: 1, backoff: { mode: none } } }
  check: { type: noop, depends_on: [load] }
  index: { type: noop, depends_on: [load] }
  report: { type: noop, depends_on: [check, index] }
`);
    await server.until(run, "held");
    const page = await browser.open(server.url);
    await page.locator(".errs .ln.hit i", { hasText: /^3001$/ }).waitFor();
    await page.getByText("stdout has 2000 lines, none looks like an error").waitFor();
    await expect
      .poll(() => page.locator(".rungcells + p").innerText())
      .toMatch(
        /^Attempt 1 failed after .+; retry 1 of 1\. Attempt 2 failed the same way after .+; no retries left \(1 used\), so it is held\.$/,
      );
    expect(await page.locator(".blocks").innerText()).toMatch(/^load\s+→\s+check\s+index\s+→\s+report$/);
    await page.getByText("3 of 4 steps").waitFor();
    await page.getByText("Nothing else changes.").waitFor();
    await page.getByText(/^held after \d/).waitFor();
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    const signature = page.locator("button.copy");
    const room = await signature.boundingBox();
    await signature.click();
    await signature.getByText("Copied").waitFor();
    expect(await signature.boundingBox()).toEqual(room);
    expect(await page.evaluate("navigator.clipboard.readText()")).toMatch(/^v\d+:[0-9a-f]{64}$/);
    await page.mouse.move(0, 0);
    await signature.getByText("Copied").waitFor({ state: "detached" });
    // At 1280 every rung has room for its name.
    await page.setViewportSize({ width: 1280, height: 900 });
    const cut = page
      .locator(".rungcells li > span:not(.sr)")
      .evaluateAll((all) => all.filter((one) => one.scrollWidth > one.parentElement!.clientWidth).length);
    expect(await cut).toBe(0);
  });

  it("opens a problem as a drawer below 1280, which can be closed, and decides several from there", async () => {
    const server = await servers.start();
    for (const name of ["nightly", "weekly"])
      await server.until(
        await server.run(`name: ${name}\nunhandled: hold\nsteps: { load: { exec: "exit 7" } }`),
        "held",
      );
    const page = await browser.open(server.url, { width: 1000 });
    await page.locator(".inbox .item").nth(1).waitFor();
    expect(await page.getByRole("button", { name: /^Retry in/ }).isVisible()).toBe(false);
    await page.locator(".inbox .item").first().getByRole("link").click();
    await page.getByRole("button", { name: "Retry in 1 run" }).waitFor();
    // It lies over the list, not over the way to other pages.
    await page.getByRole("button", { name: /^Go to run/ }).click();
    await page.keyboard.press("Escape");
    await page.getByRole("link", { name: "All problems" }).click();
    await page.getByRole("button", { name: "Retry in 1 run" }).waitFor({ state: "hidden" });
    for (const row of [0, 1]) await page.locator(".inbox .item").nth(row).getByRole("checkbox").check();
    await page.getByRole("link", { name: "Decide", exact: true }).click();
    await page.getByRole("button", { name: "Retry in 2 runs" }).waitFor();
    await page.getByRole("button", { name: /^Let them fail/ }).waitFor();
  });
});
