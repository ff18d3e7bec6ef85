import type { Page } from "playwright-core";
import { afterEach, describe, expect, it } from "vitest";
import { browserSuite, hasBrowser, TestBrowser } from "../support/browser.js";
import { LiveServers } from "../support/live-server.js";

const servers = new LiveServers();
const browser = new TestBrowser();

const HELD = `
name: nightly
unhandled: hold
labels: { team: data }
steps:
  load: { exec: "exit 7" }
  report: { type: noop, depends_on: [load] }
`;
const FAILS = "name: sync\nsteps: { push: { exec: 'echo \"401 token expired\" >&2; exit 4' } }";

/** Lists of runs wait on their way until somebody lets them through. */
async function holdAnswers(page: Page): Promise<() => void> {
  let open: () => void = () => {};
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  await page.route(/\/api\/v1\/runs\?.*outcomes/, async (route) => {
    await gate;
    await route.continue();
  });
  return open;
}

describe.skipIf(!hasBrowser)(browserSuite("the list of runs"), { timeout: 300_000 }, () => {
  afterEach(() => {
    expect(browser.complaints.splice(0)).toEqual([]);
  });

  it("has filters in its address, tells what happened, and announces new runs without moving a row", {
    tags: ["P19"],
  }, async () => {
    const server = await servers.start();
    const waits = await server.run(HELD);
    await server.until(waits, "held");
    const failed = await server.run(FAILS);
    await server.until(failed, "failed");
    const rescued = await server.run(
      "name: flaky\nsteps: { call: { exec: 'test \"$DARUMA_ATTEMPT_ID\" != 1', on_fail: { retry: { max: 1, backoff: { delay_ms: 1 } } } } }",
    );
    await server.until(rescued, "completed");
    const page = await browser.open(`${server.url}/#/runs`);
    const numbers = () => page.locator("tbody tr .num.link").allTextContents();
    await page.getByText("call retried once").waitFor();
    expect(await numbers()).toEqual([`#${rescued}`, `#${failed}`, `#${waits}`]);
    await page.getByText("Completed, 1 recovery").waitFor();
    await page.getByRole("img", { name: "0 of 2 steps completed" }).waitFor();
    await page.getByRole("img", { name: "Last 1: 1 failed" }).waitFor();
    await page.getByRole("link", { name: "Rescued" }).click();
    await expect.poll(numbers).toEqual([`#${rescued}`]);
    // What is there stays while the answer is on its way.
    const letThrough = await holdAnswers(page);
    await page.getByRole("link", { name: "Needs you" }).click();
    await page.locator("[aria-busy=true]").waitFor();
    expect(await numbers()).toEqual([`#${rescued}`]);
    letThrough();
    await expect.poll(numbers).toEqual([`#${waits}`]);
    expect(new URL(page.url()).hash).toBe("#/runs?show=needs");
    await page.goto(`${server.url}/#/runs?text=token+expired`);
    await expect.poll(numbers).toEqual([`#${failed}`]);
    await page.goto(`${server.url}/#/runs?label=team%3Ddata`);
    await expect.poll(numbers).toEqual([`#${waits}`]);
    await page.goto(`${server.url}/#/runs`);
    await expect.poll(numbers).toHaveLength(3);
    await page.locator("tbody tr").first().hover();
    const later = await server.run(FAILS);
    await page.getByRole("button", { name: "1 new run, show" }).click();
    await expect.poll(numbers).toEqual([later, rescued, failed, waits].map((run) => `#${run}`));
    await page.getByRole("cell", { name: "just now" }).first().waitFor();
    await page.getByRole("button", { name: "UTC" }).click();
    await page.getByRole("button", { name: "Local" }).waitFor();
    // Nothing was there yet: the rows to come are drawn.
    const come = await holdAnswers(page);
    await page.reload();
    await page.getByText("Loading").waitFor({ state: "attached" });
    expect(await page.locator(".sk-row").count()).toBe(16);
    come();
    await expect.poll(numbers).toHaveLength(4);
    expect(await page.locator(".sk-row").count()).toBe(0);
    await page.getByRole("button", { name: "Local" }).waitFor();
  });

  it("leaves room for what broke at 1280, tells the version, and how long a run is under way", async () => {
    const server = await servers.start();
    const waits = await server.run(
      "name: nightly-import\nunhandled: hold\nlabels: { team: data, when: nightly }\nsteps: { load: { exec: 'echo \"load: 0181_settled_at.sql failed after 3 tries\" >&2; exit 7' } }",
    );
    await server.until(waits, "held");
    const busy = await server.run("name: busy\nsteps: { wait: { exec: 'sleep 600' } }");
    await server.until(busy, "running");
    const page = await browser.open(`${server.url}/#/runs`, { width: 1280 });
    const happened = page.getByText("load: 0181_settled_at.sql failed after 3 tries (EXIT_7)");
    await happened.waitFor();
    expect((await happened.boundingBox())!.width).toBeGreaterThan(200);
    await page.getByRole("row", { name: /nightly-import v1/ }).waitFor();
    await page.getByText("+1", { exact: true }).locator("visible=true").waitFor();
    await page.locator(`tr[data-run="${busy}"] .live`, { hasText: /^\d+(\.\d)? m?s$/ }).waitFor();
    expect(await page.locator(`tr[data-run="${waits}"] td:last-child`).innerText()).toBe("");
    expect(await page.getByRole("link", { name: "Start run" }).getAttribute("href")).toBe("#/workflows");
    await page.keyboard.press("n");
    await expect.poll(() => new URL(page.url()).hash).toBe("#/workflows");
  });

  it("is walked with keys, and everything is found from the palette", async () => {
    const server = await servers.start();
    const run = await server.run(HELD);
    await server.until(run, "held");
    const page = await browser.open(`${server.url}/#/runs`);
    await page.getByText("nightly").first().waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await expect.poll(() => new URL(page.url()).hash).toBe(`#/runs/${run}`);
    await page.keyboard.press("g");
    await page.keyboard.press("i");
    await page.getByText("1 problem needs a person").waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Go to run, step, workflow" }).fill("loa");
    await page.getByRole("option", { name: /load/ }).first().waitFor();
    await page.getByRole("combobox", { name: "Go to run, step, workflow" }).fill("nightl");
    await page.getByRole("option", { name: /^Workflow\s*nightly/ }).click();
    await expect.poll(() => new URL(page.url()).hash).toBe("#/workflows/nightly");
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Go to run, step, workflow" }).fill(String(run));
    await page.keyboard.press("Enter");
    await expect.poll(() => new URL(page.url()).hash).toBe(`#/runs/${run}`);
    await page.keyboard.press("?");
    await page.getByLabel(/^Single keys/).uncheck();
    await page.getByRole("button", { name: "Close" }).click();
    await page.keyboard.press("g");
    await page.keyboard.press("i");
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Go to run, step, workflow" }).waitFor();
    expect(new URL(page.url()).hash).toBe(`#/runs/${run}`);
  });

  it("says that there is no such run or page, and leads to what there is", async () => {
    const server = await servers.start();
    const page = await browser.open(`${server.url}/#/nonsense`);
    await page.getByRole("heading", { name: "There is no such page" }).waitFor();
    await page.getByRole("link", { name: "Go to the inbox" }).click();
    await page.getByText("Nothing needs you").waitFor();
    await page.goto(`${server.url}/#/workflows`);
    await page.getByText("Name your first workflow above, then press New workflow.").waitFor();
    await page.goto(`${server.url}/#/runs/99`);
    const refused = page.getByRole("alert").filter({ hasText: "there is no run 99" });
    // Not the operation of the server that lists them.
    expect(await refused.innerText()).not.toContain("list_runs");
    await refused.getByRole("link", { name: "See all runs" }).click();
    await page.getByText("No runs yet").waitFor();
    // The browser itself tells of answers with 404.
    expect(browser.complaints.splice(0).filter((each) => !each.includes("404"))).toEqual([]);
  });
});
