import { afterEach, describe, expect, it } from "vitest";
import { barriersOf, browserSuite, hasBrowser, TestBrowser } from "../support/browser.js";
import { type LiveServer, LiveServers } from "../support/live-server.js";

const servers = new LiveServers();
const browser = new TestBrowser();

const HELD = `
name: nightly
steps:
  load:
    type: command
    exec: |
      echo "reading 4 files"
      [ -e "$FLAG" ] && exit 0
      echo "ERROR: the table is locked" >&2
      exit 7
    env: { FLAG: "{{ inputs.flag }}" }
    on_fail: { retry: { max: 1, backoff: { delay_ms: 1 } } }
  report: { type: command, exec: "echo done", depends_on: [load] }
inputs: { flag: { type: string } }
unhandled: hold
`;

/** Whatever changes a run. */
const CONTROLS =
  /^(Pause|Resume|Take over|Hand back|Retry|Redrive|Hard reset|Fork|Cancel|Complete|Skip|Let it fail|Controls)/;

/** Runs of the same failure, all held. */
async function holdRuns(server: LiveServer, count: number, flag: string): Promise<number[]> {
  const runs: number[] = [];
  for (let made = 0; made < count; made += 1) runs.push(await server.run(HELD, { inputs: { flag } }));
  for (const run of runs) await server.until(run, "held");
  return runs;
}

describe.skipIf(!hasBrowser)(browserSuite("the page"), { timeout: 300_000 }, () => {
  afterEach(() => {
    expect(browser.complaints.splice(0)).toEqual([]);
  });

  it("follows a run: its steps, what was tried and why, its log at the failing line", {
    tags: ["W41", "P1"],
  }, async () => {
    const server = await servers.start();
    const [run] = await holdRuns(server, 1, "/nowhere");
    const page = await browser.open(`${server.url}/#/runs`);
    await page.getByRole("link", { name: `#${run}` }).click();
    await page.getByText("1 recovery", { exact: true }).first().waitFor();
    await page.getByText("retried").waitFor();
    const graph = page.getByRole("region", { name: "Graph" });
    await graph.getByRole("link", { name: /^report\s*blocked/ }).waitFor();
    expect(await graph.locator(".bdg").allTextContents()).toEqual(["1"]);
    await graph.getByRole("link", { name: /^load\s*held/ }).click();
    await page.getByRole("link", { name: "Open step" }).click();
    await page.getByRole("link", { name: /^Attempt 2\s*EXIT_7/ }).waitFor();
    const line = page.locator(".ln.at");
    await line.waitFor();
    expect(await line.innerText()).toContain("ERROR: the table is locked");
    await page.getByText("no, no retries left (1 used)").waitFor();
    await page.locator("dt:text-is('class') + dd", { hasText: /^application$/ }).waitFor();
    expect(await page.getByRole("img", { name: /^Ladder:/ }).getAttribute("aria-label")).toContain(
      "retry acted, ",
    );
  });

  it("asks for a token where there is one, keeps the address, and shows a viewer no buttons", {
    tags: ["P6"],
  }, async () => {
    const server = await servers.start();
    const [run] = await holdRuns(server, 1, "/nowhere");
    const tokens = await server.tokens();
    const page = await browser.open(`${server.url}/#/runs/${run}`);
    const asked = page.getByRole("dialog", { name: "Sign in" });
    await asked.waitFor();
    expect(await page.evaluate("document.activeElement.name")).toBe("token");
    expect(await barriersOf(page)).toEqual([]);
    // It stays until somebody has signed in.
    for (let press = 0; press < 3; press += 1) await page.keyboard.press("Escape");
    await asked.waitFor();
    await page.getByLabel("Token").fill("drm_wrongwrongwrongwrongwrong");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("the token is unknown, expired or revoked").waitFor();
    await page.getByLabel("Token").fill(tokens.viewer);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("nightly").first().waitFor();
    expect(new URL(page.url()).hash).toBe(`#/runs/${run}`);
    expect(await page.getByRole("button", { name: CONTROLS }).count()).toBe(0);
    expect(await page.evaluate("document.cookie + JSON.stringify(localStorage)")).not.toContain("drm_");
    await page.goto(`${server.url}/#/runs/${run}/load`);
    await page.locator(".ln.at").waitFor();
    expect(await page.getByRole("button", { name: CONTROLS }).count()).toBe(0);
    await page.goto(`${server.url}/#/inbox`);
    await page.getByText("Open step").waitFor();
    expect(await page.getByRole("button", { name: CONTROLS }).count()).toBe(0);
  });

  it.each(["light", "dark"])(
    "has no serious barrier on the inbox, the list of runs and a run, %s",
    { tags: ["P9"] },
    async (theme) => {
      const server = await servers.start();
      const [run] = await holdRuns(server, 1, "/nowhere");
      const page = await browser.open(server.url, { theme });
      const found: { [at: string]: string[] } = {};
      const shown = {
        inbox: "Open step",
        runs: "nightly",
        [`runs/${run}`]: "waits for a person",
      };
      for (const [at, words] of Object.entries(shown)) {
        await page.goto(`${server.url}/#/${at}`);
        await page.getByText(words).first().waitFor();
        const barriers = await barriersOf(page);
        if (barriers.length > 0) found[at] = barriers;
      }
      expect(found).toEqual({});
    },
  );
});
