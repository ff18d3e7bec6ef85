import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { startServer } from "../../src/cli/server/start-server.js";
import { barriersOf, browserSuite, hasBrowser, TestBrowser } from "../support/browser.js";
import { makeRepository } from "../support/git-repository.js";
import { LiveServer } from "../support/live-server.js";
import { button, refuses, untilUsable } from "../support/page-controls.js";
import { largeFile, MENDED, SLOW } from "../support/run-page.js";

const browser = new TestBrowser();
const folder = mkdtempSync(join(tmpdir(), "daruma-run-page-"));
let server: LiveServer;

describe.skipIf(!hasBrowser)(browserSuite("the page of a run"), { timeout: 300_000 }, () => {
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

  it("pauses, resumes, takes over and cancels, and says why a control does nothing", {
    tags: ["M36", "P3"],
  }, async () => {
    const run = await server.run(SLOW);
    await server.until(run, "running");
    const page = await browser.open(`${server.url}/#/runs/${run}`);
    await refuses(page, "Retry step", "Choose a step first");
    await untilUsable(page, "Pause");
    await button(page, "Pause").click();
    await server.until(run, "paused");
    await page.getByText("Paused, by local", { exact: true }).waitFor();
    // What lifts it stands in its place.
    await untilUsable(page, "Resume");
    expect(await button(page, "Pause").count()).toBe(0);
    await button(page, "Resume").click();
    await server.until(run, "running");
    await untilUsable(page, "Pause");
    await button(page, "Pause").click();
    await server.until(run, "paused");
    await untilUsable(page, "Take over");
    await button(page, "Take over").click();
    await page
      .getByRole("alertdialog")
      .getByRole("button", { name: `Take over run ${run}` })
      .click();
    await page.getByText("Taken over by local", { exact: true }).waitFor();
    await refuses(page, "Pause", `Run ${run} is taken over already`);
    await untilUsable(page, "Hand back");
    await button(page, "Hand back").click();
    await server.until(run, "running");
    await untilUsable(page, "Cancel");
    await button(page, "Cancel").click();
    const dialog = page.getByRole("alertdialog");
    await dialog.getByText("b: blocked → canceled").waitFor();
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Keep it running");
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await button(page, "Cancel").click();
    await dialog.getByLabel("Reason").fill("wrong branch");
    await dialog.getByRole("button", { name: `Cancel run ${run}` }).click();
    await server.until(run, "canceled");
    await page.getByText("Canceled", { exact: true }).waitFor();
    await refuses(page, "Cancel", `Run ${run} is canceled`);
    const { body } = await server.ask<{ items: { type: string; by?: string; reason?: string }[] }>(
      "GET",
      `/api/v1/runs/${run}/events?limit=1000&kind=decisions`,
    );
    expect(body.items.map(({ type, by }) => `${type} ${by}`)).toEqual([
      "run.paused local",
      "run.unpaused local",
      "run.paused local",
      "run.paused local",
      "run.unpaused local",
      "run.cancel_requested local",
    ]);
    expect(body.items.at(-1)!.reason).toBe("wrong branch");
  });

  it("resets hard, forks and resumes from a step, with the effect shown before", {
    tags: ["M36", "P3"],
  }, async () => {
    const repo = makeRepository(join(folder, "repo"), { "title.txt": "Untitled\n" });
    const file = `name: heal
workspace: { repo: ${JSON.stringify(repo)}, ref: HEAD }
unhandled: hold
steps:
  draft: { exec: "echo draft > draft.txt" }
  mend: { exec: "[ -e '${folder}/key' ]", depends_on: [draft] }
  tell: { exec: "true", workspace: false, depends_on: [mend] }
`;
    const run = await server.run(file);
    await server.until(run, "held");
    const page = await browser.open(`${server.url}/#/runs/${run}`);
    await page.locator(".selbar").getByText("mend", { exact: true }).waitFor();
    await refuses(page, "Fork", /would not have the files that draft has left/);
    const graph = page.getByRole("region", { name: "Graph" });
    await graph.getByRole("link", { name: /^tell\s*blocked/ }).click();
    await refuses(page, "Hard reset", "Tell does not work in a workspace");
    await graph.getByRole("link", { name: /^mend\s*held/ }).click();
    await untilUsable(page, "Hard reset");
    writeFileSync(join(folder, "key"), "");
    await button(page, "Hard reset").click();
    const dialog = page.getByRole("alertdialog");
    await dialog.getByText(/^mend: held → /).waitFor();
    await dialog.getByRole("button", { name: "Hard reset mend" }).click();
    await server.until(run, "completed");
    await page.getByText("Completed", { exact: true }).waitFor();
    await refuses(page, "Hard reset", "Mend is completed");

    const endOf = async () => (await server.running.store.readRun(run))!.finished_at;
    const ended = await endOf();
    await graph.getByRole("link", { name: /^tell\s*completed/ }).click();
    await untilUsable(page, "Resume from");
    await button(page, "Resume from").click();
    await dialog.getByText(/^tell: completed → /).waitFor();
    await dialog.getByRole("button", { name: "Resume from tell" }).click();
    await expect.poll(async () => [null, ended].includes(await endOf())).toBe(false);
    await page.getByText("Completed", { exact: true }).waitFor();

    await graph.getByRole("link", { name: /^draft\s*completed/ }).click();
    await untilUsable(page, "Fork");
    await button(page, "Fork").click();
    await dialog.getByText("runs 3 steps: draft, mend, tell").waitFor();
    await dialog.getByRole("button", { name: "Fork from draft" }).click();
    await page.waitForURL((url) => url.hash.startsWith("#/runs/") && url.hash !== `#/runs/${run}`);
    await page.getByText("Completed", { exact: true }).waitFor();
  });

  it("shows every recovery by one number in story, graph, timeline and slider, and edges with reasons", async () => {
    const run = await server.run(MENDED);
    await server.until(run, "completed");
    const page = await browser.open(`${server.url}/#/runs/${run}`);
    await page.getByText("retried twice, then completed").waitFor();
    await page.getByText("repaired by repair, then completed").waitFor();
    await page.getByText("failed for good; undo took over, handled").waitFor();
    const graph = page.getByRole("region", { name: "Graph" });
    const numbers = ["1", "2", "3"];
    expect(await graph.locator("svg.graph .bdg").allTextContents()).toEqual(numbers);
    expect(await page.locator(".scrub .n").allTextContents()).toEqual(numbers);
    expect(await page.locator(".story .n").allTextContents()).toEqual(numbers);
    await graph.locator("text.elab", { hasText: "1 · no: " }).waitFor();
    expect(await graph.locator("path.e.fail.idle").count()).toBe(1);
    await page.locator(".story").getByRole("button", { name: "Recovery 2" }).click();
    await page.locator(".selbar").getByText("build").waitFor();
    expect(await graph.locator(".chosen .bdg").allTextContents()).toEqual(["2"]);
    await page.getByRole("link", { name: "Timeline" }).click();
    expect(await page.locator(".gantt .bdg").allTextContents()).toEqual(numbers);
    // Chosen in one of them, it is chosen in all.
    await page.locator(".gantt").getByRole("button", { name: "Recovery 1" }).click();
    await page.locator(".selbar").getByText("deps").waitFor();
    const chosen = ".gantt .bdg.is-chosen, .scrub .n.chosen, .graph .chosen .bdg";
    expect(await page.locator(chosen).allTextContents()).toEqual(["1", "1", "1"]);
    await page.getByRole("button", { name: "Go to recovery 3" }).click();
    await page.locator(".selbar").getByText("canary").waitFor();
    expect(await page.locator(chosen).allTextContents()).toEqual(["3", "3", "3"]);
    await page.keyboard.press("0");
    expect(await page.locator(".gantt rect.bad").count()).toBe(4);
  });

  it("filters the log, and shows who decided", async () => {
    const run = await server.run(MENDED);
    await server.until(run, "completed");
    await server.ask("POST", `/api/v1/runs/${run}/control`, {
      body: { action: "resume_from_step", step_id: "canary", reason: "once more" },
    });
    await server.until(run, "completed");
    const page = await browser.open(`${server.url}/#/runs/${run}?tab=events`);
    // The answer to the first filter comes after the second was typed.
    let typed = (): void => {};
    const isTyped = new Promise<void>((resolve) => {
      typed = resolve;
    });
    await page.route(/events\?(?!.*text=).*kind=decisions/, async (route) => {
      await isTyped;
      await route.continue();
    });
    const asked = page.waitForRequest(/kind=decisions/);
    await page.getByRole("button", { name: /^Decisions/ }).click();
    await asked;
    await page.getByLabel("Find in the log").fill("once more");
    typed();
    await page
      .getByText(/by local$/)
      .first()
      .waitFor();
    await expect.poll(() => page.locator(".ev").count()).toBe(2);
    await page.getByLabel("Find in the log").fill("nothing like this");
    await page.getByText("No event matches.").waitFor();
  });

  it("draws 2,000 steps with at most 400 of them in the page, walks along edges, and reads the log where it is looked at", {
    tags: ["P8"],
  }, async () => {
    const run = await server.run(largeFile());
    await server.until(run, "completed");
    const page = await browser.open(`${server.url}/#/runs/${run}`);
    await page.locator("path.far.completed").waitFor();
    const nodes = () => page.locator("svg.graph a[data-node]").count();
    expect(await nodes()).toBeLessThanOrEqual(400);
    expect(await page.evaluate("document.querySelectorAll('*').length")).toBeLessThan(3_000);
    await page.getByLabel("Find step").fill("s1234");
    await page.getByLabel("Find step").press("Enter");
    await page.locator(".selbar").getByText("s1234").waitFor();
    await page.getByRole("link", { name: /^s1234\s*completed/ }).waitFor();
    const seen = await nodes();
    expect(seen).toBeGreaterThan(10);
    expect(seen).toBeLessThanOrEqual(400);
    await page.keyboard.press("ArrowUp");
    await expect.poll(() => page.locator(".selbar b").textContent()).toMatch(/^s119[45]$/);
    await page.keyboard.press(".");
    await page.locator("path.far.completed").waitFor();
    await page.getByRole("img", { name: "Overview: failures and holds" }).waitFor({ state: "detached" });
    const read = new Set<string | null>();
    page.on("request", (request) => {
      const { pathname, searchParams } = new URL(request.url());
      if (pathname.endsWith(`/runs/${run}/events`)) read.add(searchParams.get("after"));
    });
    await page.goto(`${server.url}/#/runs/${run}?tab=events`);
    await page.locator(".ev").first().waitFor();
    const { body } = await server.ask<{ events: number }>("GET", `/api/v1/runs/${run}/timeline`);
    expect(body.events).toBeGreaterThan(4_000);
    await expect.poll(() => page.locator(".ev:not(.dim)").count()).toBeGreaterThan(5);
    expect(read.size).toBeGreaterThan(0);
    expect(read.size).toBeLessThan(10);
  });

  it("moves nothing under the pointer while a run goes on", async () => {
    const flag = join(folder, "go");
    const run = await server.run(`name: going
steps:
  first: { exec: "while [ ! -e '${flag}' ]; do sleep 0.05; done; exit 3", on_fail: { retry: { max: 1, backoff: { delay_ms: 1 } } } }
  second: { exec: "true", depends_on: [first] }
`);
    const page = await browser.open(`${server.url}/#/runs/${run}?tab=timeline`);
    const graph = page.getByRole("region", { name: "Graph" });
    await graph.getByRole("link", { name: /^first\s*running/ }).waitFor();
    const places = () =>
      Promise.all(
        [page.locator("svg.graph"), button(page, "Pause"), page.locator(".scrub"), page.locator(".tabs")].map(
          (part) => part.boundingBox(),
        ),
      );
    const node = () => graph.locator("a[data-node]").first().locator("rect.bx").boundingBox();
    const [before, place] = [await places(), await node()];
    writeFileSync(flag, "");
    await server.until(run, "failed");
    await page.getByText("Failed", { exact: true }).waitFor();
    await graph.getByRole("link", { name: /^first\s*failed/ }).waitFor();
    expect([await places(), await node()]).toEqual([before, place]);
  });

  it("opens on its story on a phone, with tabs and its controls behind a button", async () => {
    const run = await server.run(MENDED);
    await server.until(run, "completed");
    const page = await browser.open(`${server.url}/#/runs/${run}`, { width: 390 });
    await page.getByText("retried twice, then completed").waitFor();
    expect(await page.locator("svg.graph").isVisible()).toBe(false);
    expect(await page.getByLabel("Moment in the log").isVisible()).toBe(true);
    await page.getByRole("link", { name: "Graph" }).click();
    await page.locator("svg.graph").waitFor();
    expect(await button(page, "Fork").isVisible()).toBe(false);
    await button(page, "Controls").click();
    await button(page, "Fork").waitFor();
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(390);
  });

  it.each(["light", "dark"])(
    "has no serious barrier in any of its tabs, %s",
    { tags: ["P9"] },
    async (theme) => {
      const run = await server.run(MENDED);
      await server.until(run, "completed");
      const page = await browser.open(`${server.url}/#/runs/${run}`, { theme });
      const found: { [at: string]: string[] } = {};
      const tabs = {
        "": "retried twice",
        "?tab=timeline": "Running",
        "?tab=events": "run.completed",
        "?tab=state": "This run has no inputs.",
        "?at=9": "Past",
      };
      for (const [query, words] of Object.entries(tabs)) {
        await page.goto(`${server.url}/#/runs/${run}${query}`);
        await page.getByText(words).locator("visible=true").first().waitFor();
        const barriers = await barriersOf(page);
        if (barriers.length > 0) found[query] = barriers;
      }
      await page.goto(`${server.url}/#/runs/${run}`);
      await untilUsable(page, "Fork");
      await button(page, "Fork").click();
      await page.getByText("What will happen").waitFor();
      const barriers = await barriersOf(page);
      if (barriers.length > 0) found.dialog = barriers;
      expect(found).toEqual({});
    },
  );
});
