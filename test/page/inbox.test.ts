import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterEach, describe, expect, it } from "vitest";
import { barriersOf, browserSuite, hasBrowser, TestBrowser } from "../support/browser.js";
import { type LiveServer, LiveServers } from "../support/live-server.js";

const servers = new LiveServers();
const browser = new TestBrowser();

const held = (name: string, said: string): string => `
name: ${name}
unhandled: hold
labels: { team: data }
inputs: { flag: { type: string } }
steps:
  load:
    type: command
    exec: |
      echo "reading 4 files"
      [ -e "$FLAG" ] && exit 0
      echo "ERROR: ${said}" >&2
      exit 7
    env: { FLAG: "{{ inputs.flag }}" }
    on_fail: { retry: { max: 1, backoff: { delay_ms: 1 } } }
  report: { type: command, exec: "echo done", depends_on: [load] }
`;
const ASKS = `
name: payroll
steps:
  sign-off: { type: human, prompt: "Totals differ by 3.1 %. Post them?", choices: [post, recount] }
  post: { type: noop, depends_on: [sign-off] }
`;
const FAILS = "name: sync\nsteps: { push: { exec: 'echo \"401 token expired\" >&2; exit 4' } }";
const HOSTILE = `
name: '<img src=x onerror=document.title=1>'
unhandled: hold
steps:
  shout:
    type: command
    exec: |
      head -c 1000000 /dev/zero | tr '\\0' x >&2
      printf '\\n<script>document.title=2</script> error \\033[31mred\\033[0m abc\\342\\200\\256def\\n' >&2
      exit 1
`;

async function hold(
  server: LiveServer,
  count: number,
  flag: string,
  name = "nightly",
  said = "locked",
): Promise<number[]> {
  const runs: number[] = [];
  for (let made = 0; made < count; made += 1)
    runs.push(await server.run(held(name, said), { inputs: { flag } }));
  for (const run of runs) await server.until(run, "held");
  return runs;
}

async function eventsOf(
  server: LiveServer,
  run: number,
  type: string,
): Promise<{ reason?: string; hint?: string }[]> {
  const path = `/api/v1/runs/${run}/events?limit=1000`;
  const { body } = await server.ask<{ items: { type: string; reason?: string; hint?: string }[] }>(
    "GET",
    path,
  );
  return body.items.filter((event) => event.type === type);
}

const rows = (page: Page) => page.locator(".inbox .item");

describe.skipIf(!hasBrowser)(browserSuite("the inbox"), { timeout: 300_000 }, () => {
  afterEach(() => {
    expect(browser.complaints.splice(0)).toEqual([]);
  });

  it("shows a failing workflow live, and one decision mends seven runs at once", {
    tags: ["M36", "P1"],
  }, async () => {
    const server = await servers.start();
    const flag = join(server.outputDir, "unlocked");
    const page = await browser.open(server.url);
    await page.getByText("Nothing needs you").waitFor();
    // Measured, not asserted: what else the machine does counts as well.
    const usableMs = Number(await page.evaluate("performance.now()"));
    console.log(`inbox usable ${Math.round(usableMs)} ms after its address was opened`);
    expect(await page.locator("link[rel=icon]").getAttribute("href")).toBe("/favicon.svg");
    const runs = await hold(server, 7, flag);
    await page.getByText("1 problem needs a person").waitFor();
    await page.getByText("7 of 7 selected").waitFor();
    expect(await page.title()).toBe("(1) Inbox · Daruma");
    expect(await page.locator("link[rel=icon]").getAttribute("href")).toBe("/favicon-waiting.svg");
    await page.getByText("2 attempts, no retries left (1 used)").first().waitFor();
    await page.getByText("blocks 1 step").first().waitFor();
    await page.getByText("the same in all 7 runs").waitFor();
    await page.getByText("load held → ready").waitFor();
    expect(
      await page
        .getByRole("img", { name: /^Ladder:/ })
        .first()
        .getAttribute("aria-label"),
    ).toContain("retry acted");
    writeFileSync(flag, "");
    await page.getByLabel("Hint").fill("x".repeat(4_001));
    await page.getByText("4,001 characters; a hint has at most 4,000").waitFor();
    await page.getByText("INVALID_INPUT").waitFor();
    await page.getByLabel("Hint").fill("the lock file was stale");
    await page.getByText("load held → ready").waitFor();
    await page.getByLabel("Reason").fill("the lock is gone");
    // The result leaves after a while: the page's clock stands still until it was seen.
    await page.clock.install();
    await page.clock.pauseAt(Date.now() + 1_000);
    await page.getByRole("button", { name: "Retry in 7 runs" }).click();
    await page.getByText("Retried in 7 runs").first().waitFor();
    await page.clock.resume();
    for (const run of runs) await server.until(run, "completed");
    await page.getByText("Nothing needs you").waitFor();
    await page.getByRole("link", { name: "See the 7 rescued runs" }).click();
    await expect.poll(() => page.getByRole("row", { name: /Completed, \d recover/ }).count()).toBe(7);
    for (const run of runs)
      expect((await eventsOf(server, run, "jobs.retried")).map(({ hint }) => hint)).toEqual([
        "the lock file was stale",
      ]);
    for (const run of runs)
      expect((await eventsOf(server, run, "hold.resolved")).map(({ reason }) => reason)).toEqual([
        "the lock is gone",
      ]);
  });

  it("leads from the empty inbox to a first run, by its button and by its key", async () => {
    const server = await servers.start();
    const page = await browser.open(server.url);
    await page.getByText("Nothing needs you").waitFor();
    const start = page.locator(".calm").getByRole("link", { name: "Start run" });
    expect(await start.getAttribute("href")).toBe("#/workflows");
    await page.keyboard.press("n");
    await expect.poll(() => page.url()).toContain("#/workflows");
  });

  it("leaves out what is not selected, asks before it lets something fail, and goes to the next problem", async () => {
    const server = await servers.start();
    const runs = await hold(server, 2, "/nowhere");
    const [other] = await hold(server, 1, "/nowhere", "weekly", "no space left");
    const page = await browser.open(server.url);
    await page.getByText("2 problems need a person").waitFor();
    await page.getByLabel(`Run ${runs[0]}`).uncheck();
    await page.getByRole("button", { name: /^Let it fail/ }).click();
    await page.getByText("load held → failed").waitFor();
    await page.getByRole("button", { name: "Let fail in 1 run" }).click();
    const dialog = page.getByRole("alertdialog");
    await dialog.getByRole("button", { name: "Let it wait" }).click();
    expect((await server.running.store.readRun(runs[1]!))!.status).toBe("held");
    await page.getByRole("button", { name: "Let fail in 1 run" }).click();
    await dialog.getByRole("button", { name: "Let fail in 1 run" }).click();
    await server.until(runs[1]!, "failed");
    await page.getByText("Let fail in 1 run").first().waitFor();
    // What has failed is a problem of its own now; the focus goes on to the one below.
    await expect.poll(() => page.url()).toContain("problem=");
    await page.getByRole("button", { name: /^Retry in 1 run/ }).waitFor();
    for (const run of [runs[0]!, other!])
      expect((await server.running.store.readRun(run))!.status).toBe("held");
  });

  it("decides several problems at once, with a warning, and by keys alone", async () => {
    const server = await servers.start();
    const flag = join(server.outputDir, "again");
    const runs = [
      ...(await hold(server, 2, flag)),
      ...(await hold(server, 1, flag, "weekly", "no space left")),
    ];
    const page = await browser.open(server.url);
    await rows(page).nth(1).waitFor();
    await page.keyboard.press("a");
    await page.getByText("2 different failures.").waitFor();
    await page.getByText("2 problems, 3 runs selected").waitFor();
    expect(await page.getByRole("button", { name: /^Complete/ }).getAttribute("aria-disabled")).toBe("true");
    await page.keyboard.press("s");
    await page.getByText("load held → skipped").waitFor();
    // What is for one problem at a time is not chosen by its key either.
    await page.keyboard.press("c");
    expect(await page.getByRole("button", { name: /^Skip/ }).first().getAttribute("aria-pressed")).toBe(
      "true",
    );
    await page.keyboard.press("r");
    await page.getByText("load held → ready").waitFor();
    expect((await server.running.store.readRun(runs[0]!))!.status).toBe("held");
    writeFileSync(flag, "");
    await page.getByLabel("Reason").fill("both are back");
    await page.keyboard.press("Control+Enter");
    for (const run of runs) await server.until(run, "completed");
    await page.getByText("Nothing needs you").waitFor();
  });

  it("completes with an output that is JSON, and takes nothing that only looks like it", async () => {
    const server = await servers.start();
    const [run] = await hold(server, 1, "/nowhere");
    const page = await browser.open(server.url);
    await page
      .getByRole("button", { name: /^Complete/ })
      .first()
      .click();
    await page.getByText("load held → completed").waitFor();
    await page.getByLabel("Output").fill('{"rows": 0');
    await page.getByText("The output is not JSON").waitFor();
    const send = page.getByRole("button", { name: "Complete in 1 run" });
    expect(await send.getAttribute("aria-description")).toBe("It would be refused: see above");
    await page.getByLabel("Output").fill('{"rows": 0}');
    await page.getByText("load held → completed").waitFor();
    await send.click();
    await server.until(run!, "completed");
    const job = await server.job(run!, "load");
    const { body } = await server.ask<{ output: unknown }>("GET", `/api/v1/jobs/${job}`);
    expect(body.output).toEqual({ rows: 0 });
  });

  it("answers a question with one of its choices", async () => {
    const server = await servers.start();
    const run = await server.run(ASKS);
    const page = await browser.open(server.url);
    await page.getByRole("button", { name: /^recount/ }).waitFor();
    await page.getByText("asks: post or recount").waitFor();
    const send = page.getByRole("button", { name: /^Answer/ });
    expect(await send.getAttribute("aria-description")).toBe("Choose an answer first");
    expect(await rows(page).getByRole("checkbox").getAttribute("aria-description")).toContain(
      "answered by itself",
    );
    // Only a question is left: its run leans.
    await page.locator(".runs-of-problem .doll.d-held").waitFor();
    await page.keyboard.press("Space");
    await page.keyboard.press("Shift+Space");
    expect(await page.getByRole("toolbar", { name: "Selected problems" }).count()).toBe(0);
    await page.getByRole("button", { name: /^post/ }).click();
    await page.getByLabel("Comment").fill("checked with finance");
    await page.getByRole("button", { name: "Answer post" }).click();
    await server.until(run, "completed");
    const { body } = await server.ask<{ output: unknown }>(
      "GET",
      `/api/v1/jobs/${await server.job(run, "sign-off")}`,
    );
    expect(JSON.stringify(body)).toContain("checked with finance");
  });

  it("sets aside what failed, and tells of it again when it comes again", async () => {
    const server = await servers.start();
    await server.until(await server.run(FAILS), "failed");
    const page = await browser.open(server.url);
    await page.getByRole("heading", { name: "Failed" }).waitFor();
    // What a fork would do is asked, too, and starts nothing.
    const asked = page.waitForRequest(
      (request) => request.url().endsWith("/fork") && request.postDataJSON().dry_run === true,
    );
    await page.getByRole("button", { name: /^Fork/ }).first().click();
    await asked;
    await page.getByText("A new run takes over what completed before the step").waitFor();
    expect(await server.running.store.listRuns({})).toHaveLength(1);
    await page
      .getByRole("button", { name: /^Set aside/ })
      .first()
      .click();
    await page.getByText("It leaves the inbox").waitFor();
    await page.getByRole("button", { name: "Set aside 1 failure" }).click();
    await page.getByText("Nothing needs you").waitFor();
    await server.until(await server.run(FAILS), "failed");
    await page.getByText("1 problem needs a person").waitFor();
  });

  it("shows a viewer no buttons, asks for a token where there is none any more, and for a sign-out", {
    tags: ["P6"],
  }, async () => {
    const server = await servers.start();
    await hold(server, 1, "/nowhere");
    const tokens = await server.tokens();
    const page = await browser.open(`${server.url}/#/inbox?kind=hold`);
    await page.getByLabel("Token").waitFor();
    const asked: string[] = [];
    page.on("request", (request) => request.url().endsWith("/api/v1/events") && asked.push(request.url()));
    await page.getByLabel("Token").fill(tokens.viewer);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("1 problem needs a person").waitFor();
    expect(new URL(page.url()).hash).toBe("#/inbox?kind=hold");
    expect(await page.getByRole("button", { name: /Retry|Skip|fail/ }).count()).toBe(0);
    expect(await page.getByRole("checkbox").count()).toBe(0);
    await page.context().clearCookies();
    await server.running.store.revokeToken(
      (await server.running.store.listTokens()).find(({ role }) => role === "viewer")!.id,
      Date.now(),
    );
    await page.getByLabel("Token").waitFor();
    await page.getByText("1 problem needs a person").waitFor();
    // One stream was refused, and nobody has asked for another since.
    expect(asked.length).toBeLessThanOrEqual(2);
    await page.getByLabel("Token").fill(tokens.operator);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("button", { name: "Retry in 1 run" }).waitFor();
    await page.getByRole("button", { name: "operator" }).click();
    await page.getByText("This browser forgets the token.").waitFor();
    await page.getByRole("button", { name: "Stay signed in" }).click();
    await page.getByText("1 problem needs a person").waitFor();
  });

  it("says how old its data is while the server is away, keeps it, and goes on by itself", {
    tags: ["P7"],
  }, async () => {
    const server = await servers.start();
    const { port } = new URL(server.url);
    await hold(server, 1, "/nowhere");
    const page = await browser.open(server.url);
    await page.getByText("1 problem needs a person").waitFor();
    await server.close();
    await page.getByText("Not connected.").waitFor();
    await page
      .getByText(/^What you see is|old\.$/)
      .first()
      .waitFor();
    await page.getByText("1 problem needs a person").waitFor();
    expect(await page.locator(".livedot").innerText()).toBe("not connected");
    const tried = page.waitForRequest(/\/api\/v1\/events$/);
    await page.getByRole("button", { name: "Try now" }).click();
    await tried;
    const again = await servers.start({ port: Number(port), outputDir: server.outputDir });
    await hold(again, 1, "/nowhere", "weekly", "no space left");
    await page.getByText("2 problems need a person").waitFor();
    await page.getByText("Not connected.").waitFor({ state: "detached" });
  });

  it("shows hostile output as text, and has no barrier, in both themes", { tags: ["P10"] }, async () => {
    const server = await servers.start();
    await server.until(await server.run(HOSTILE), "held");
    await server.until(await server.run(FAILS), "failed");
    await server.run(ASKS);
    await hold(server, 2, "/nowhere");
    for (const theme of ["light", "dark"]) {
      const page = await browser.open(server.url, { theme });
      await page.getByText("4 problems need a person").waitFor();
      await page.locator(".item .what", { hasText: "<script>document.title=2</script>" }).click();
      await page.getByText("<script>document.title=2</script> error red abcdef").first().waitFor();
      expect(await page.locator(".main img, .main script").count()).toBe(0);
      expect(await page.title()).toBe("(4) Inbox · Daruma");
      const found: { [at: string]: string[] } = {};
      const look = async (at: string) => {
        const barriers = await barriersOf(page);
        if (barriers.length > 0) found[at] = barriers;
      };
      await page.locator(".resolve .pri:not([aria-disabled=true])").waitFor();
      await look("inbox");
      await page.keyboard.press("?");
      await page.getByRole("heading", { name: "Keys" }).waitFor();
      await look("keys");
      await page.keyboard.press("Escape");
      await page.keyboard.press("Control+k");
      await page
        .getByRole("option", { name: /nightly/ })
        .first()
        .waitFor();
      await look("palette");
      await page.keyboard.press("Escape");
      await page.goto(`${server.url}/#/runs`);
      await page.getByText("nightly").first().waitFor();
      await look("runs");
      expect(found).toEqual({});
    }
  });

  it("is usable on a phone: a list, then a page with its action at the bottom", async () => {
    const server = await servers.start();
    await hold(server, 1, "/nowhere");
    const page = await browser.open(server.url, { width: 390 });
    await rows(page).first().waitFor();
    expect(await page.getByRole("button", { name: /Retry in/ }).isVisible()).toBe(false);
    await rows(page).first().getByRole("link").click();
    await page.getByRole("button", { name: "Retry in 1 run" }).waitFor();
    const box = await page.getByRole("button", { name: "Retry in 1 run" }).boundingBox();
    expect(box!.height).toBeGreaterThanOrEqual(44);
    // Keys are for keyboards, and the title has the width of the page.
    expect(await page.locator("kbd:visible").count()).toBe(0);
    const title = await page.locator(".top-of-detail h2").boundingBox();
    expect(title!.width).toBeGreaterThan(280);
    await page.getByRole("link", { name: "All problems" }).click();
    await rows(page).first().waitFor();
    const hold1 = rows(page).first();
    const [pick, doll] = [
      await hold1.getByRole("checkbox").boundingBox(),
      await hold1.locator(".doll").boundingBox(),
    ];
    expect(pick!.x + pick!.width).toBeLessThanOrEqual(doll!.x);
    // What happened in a run can be read without scrolling sideways.
    await page.goto(`${server.url}/#/runs`);
    const happened = await page.getByText(/^load: .*\(EXIT_7\)$/).boundingBox();
    expect(happened!.x + happened!.width).toBeLessThanOrEqual(390);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(390);
  });
});
