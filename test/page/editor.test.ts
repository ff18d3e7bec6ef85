import type { Page } from "playwright-core";
import { afterEach, describe, expect, it } from "vitest";
import { barriersOf, browserSuite, hasBrowser, TestBrowser } from "../support/browser.js";
import { type LiveServer, LiveServers } from "../support/live-server.js";
import { refuses } from "../support/page-controls.js";

const servers = new LiveServers();
const browser = new TestBrowser();

const SHIP = `# Ships it.
name: ship
inputs:
  target: { type: string, enum: [staging, production], default: staging }
  count: { type: number, description: how many }
secrets: [DEPLOY_TOKEN]
steps:
  build: { exec: "exit 3" }   # it always fails
  announce: { exec: echo out, depends_on: [build] }
  roll-back: { exec: echo back }
  cheer: { exec: echo hurrah, depends_on: [announce] }
`;

const save = (server: LiveServer, name: string, source: string, more: object = {}) =>
  server.ask<{ revision: number }>("PUT", `/api/v1/workflows/${name}/draft`, { body: { source, ...more } });

async function textOf(server: LiveServer, name: string): Promise<string> {
  const { body } = await server.ask<{ source: string }>("GET", `/api/v1/workflows/${name}/draft`);
  return body.source;
}

async function edit(server: LiveServer, name: string, options = {}): Promise<Page> {
  const page = await browser.open(`${server.url}/#/workflows/${name}/edit`, options);
  await page.getByLabel("Workflow text").waitFor();
  return page;
}

const checked = (page: Page) => page.getByText(/^No problems:/).waitFor();

describe.skipIf(!hasBrowser)(browserSuite("the editor"), { timeout: 300_000 }, () => {
  afterEach(() => {
    expect(browser.complaints.splice(0)).toEqual([]);
  });

  it("draws a failure edge, saves and publishes it, and the run takes it", {
    tags: ["A36", "P4"],
  }, async () => {
    const server = await servers.start();
    const ship = SHIP.replace(/^secrets.*\n/m, "");
    await save(server, "ship", ship);
    const page = await edit(server, "ship");
    await checked(page);
    const step = (name: string) => page.locator(".react-flow__node", { hasText: name });
    await step("build").hover();
    await step("build").locator(".on-failure").dragTo(step("roll-back").locator(".react-flow__handle-top"));
    await page.getByRole("complementary", { name: "Edge" }).getByText("build → roll-back").waitFor();
    await page
      .getByText(
        "When build fails. If roll-back completes, the failure is handled, and the steps that depend on build are skipped.",
      )
      .waitFor();
    const end = page.getByRole("group", { name: "When roll-back completes, the run" });
    await end.getByRole("button", { name: "fails" }).click();
    await page.getByText("When build fails. The run fails, also if roll-back completes.").waitFor();
    await end.getByRole("button", { name: "skips the rest" }).click();
    await page.getByText("If roll-back completes, the failure is handled").waitFor();
    const drawn = `${ship}transitions:\n  - { from: build, to: roll-back, on: failure, then: skip }\n`;
    await page.keyboard.press("Control+s");
    await page.getByText("saved as revision 2").waitFor();
    expect(await textOf(server, "ship")).toBe(drawn);
    await page.getByRole("button", { name: "Publish" }).click();
    await page.getByText("version 1 is published").waitFor();
    await refuses(page, "Publish", "Nothing has changed since version 1");
    await page.getByRole("link", { name: /^Start run/ }).click();
    await page.getByLabel(/^count/).fill("3");
    await page.getByRole("button", { name: "Start run" }).click();
    await page.waitForURL(/#\/runs\/\d+/);
    const run = Number(/runs\/(\d+)/.exec(page.url())![1]);
    expect(await server.until(run, "completed", "failed")).toBe("completed");
    await page
      .getByText(/Completed, 1 (failure )?handled/)
      .first()
      .waitFor();
    // The edge that was drawn is one that the run went along: red, and not pale as one that was only looked at.
    const graph = page.getByRole("region", { name: "Graph" });
    await graph.getByRole("link", { name: /^roll-back\s*completed/ }).waitFor();
    await graph.locator("svg.graph path.e.fail:not(.idle)").first().waitFor();
    expect(await graph.locator("svg.graph path.e.fail.idle").count()).toBe(0);
    const { body } = await server.ask<{ items: { type: string; to?: string }[] }>(
      "GET",
      `/api/v1/runs/${run}/events?limit=1000`,
    );
    expect(body.items.filter(({ type }) => type === "edge.taken")).toHaveLength(1);
  });

  it("makes a draft of a workflow that is only known from a run", async () => {
    const server = await servers.start();
    const ship = SHIP.replace(/^secrets.*\n/m, "").replace("exit 3", "true");
    await server.until(await server.run(ship, { inputs: { count: 1 } }), "completed");
    const page = await browser.open(`${server.url}/#/workflows`);
    await page.getByText("from a run").waitFor();
    await refuses(page, "Start run", "Publish a version first: runs are started from it");
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await page.getByText("# it always fails").waitFor();
    expect(await page.getByRole("heading", { level: 1 }).innerText()).toBe("ship");
    await refuses(page, "Discard", "There is no draft to discard yet");
    await refuses(page, "Compare with v1", "There is no draft to compare yet");
    await refuses(page, "Start run", "Publish a version first: runs are started from it");
    await page.getByText("the text of v1, from a run").waitFor();
    await checked(page);
    await page.keyboard.press("Control+s");
    await page.getByText("saved as revision 1").waitFor();
    expect(await textOf(server, "ship")).toBe(ship);
    await page.getByRole("button", { name: "Publish" }).click();
    await page.getByText("version 1 is published").waitFor();
    await page.getByRole("link", { name: /^Start run/ }).waitFor();
  });

  it("adds, changes and deletes an edge without drawing it, in the text, and undoes that", {
    tags: ["A36"],
  }, async () => {
    const server = await servers.start();
    await save(server, "ship", SHIP);
    const page = await edit(server, "ship");
    await checked(page);
    await page.getByRole("button", { name: "Add edge" }).press("Enter");
    await page.getByLabel("From", { exact: true }).selectOption("build");
    await page.getByLabel("To", { exact: true }).selectOption("cheer");
    await page.getByRole("complementary").getByRole("button", { name: "Add edge" }).press("Enter");
    const inspector = page.getByRole("complementary", { name: "Edge" });
    await inspector.getByRole("button", { name: "either" }).press("Enter");
    await inspector.getByText(/^When build completes or fails/).waitFor();
    await inspector.getByRole("button", { name: "compare a field" }).press("Enter");
    await inspector.getByLabel("Value").fill("application");
    await inspector.getByLabel("Value").press("Enter");
    await inspector.getByText('if error.class == "application"').first().waitFor();
    await inspector.getByRole("button", { name: "and", exact: true }).press("Enter");
    await inspector.getByLabel("Field").nth(1).fill("error.exit_code");
    await inspector.getByLabel("Value").nth(1).fill("3");
    await inspector.getByRole("button", { name: "not", exact: true }).nth(1).press("Enter");
    await inspector.getByLabel("Value").nth(1).press("Enter");
    await inspector
      .getByText('if (error.class == "application") and (not (error.exit_code == 3))')
      .first()
      .waitFor();
    await inspector.getByLabel(/^Priority/).fill("7");
    await inspector.getByLabel(/^Priority/).press("Enter");
    await page.getByText("7 · any end").waitFor();
    await page.keyboard.press("Control+s");
    await page.getByText("saved as revision 2").waitFor();
    const compared = (left: string, right: string | number) =>
      `{ type: comparison, left: ${left}, operator: "==", right: ${right} }`;
    const not = `{ type: not, condition: ${compared("error.exit_code", 3)} }`;
    const when = `{ type: and, conditions: [${compared("error.class", "application")}, ${not}] }`;
    const edge = `{ from: build, to: cheer, on: any, when: ${when}, priority: 7 }`;
    expect(await textOf(server, "ship")).toBe(`${SHIP}transitions:\n  - ${edge}\n`);
    await inspector.getByRole("button", { name: "Delete edge" }).press("Enter");
    await page.getByText("7 · any end").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Undo" }).press("Enter");
    await page.getByText("7 · any end").waitFor();
    await page.getByText("from: build, to: cheer").click();
    await inspector.getByText("build → cheer").waitFor();
    await page.getByRole("button", { name: "Add edge" }).press("Enter");
    await page.getByLabel("From", { exact: true }).selectOption("build");
    await page.getByLabel("When it", { exact: true }).selectOption("depends");
    await page.getByLabel("To", { exact: true }).selectOption("cheer");
    await page.getByRole("complementary").getByRole("button", { name: "Add edge" }).press("Enter");
    await page.getByText("depends_on: [announce, build]").waitFor();
  });

  it("shows a problem under its line, and its fix mends it; until then nothing is published", {
    tags: ["P17"],
  }, async () => {
    const server = await servers.start();
    await save(server, "ship", SHIP.replace("depends_on: [build]", "depends_on: [biuld]"));
    const page = await edit(server, "ship");
    await page.locator(".told", { hasText: "unknown step `biuld`" }).waitFor();
    await refuses(page, "Publish", "Fix 1 problem first. A draft with problems cannot be published");
    // A button that cannot be used can be reached, is dashed, and says why beside itself.
    const publish = page.getByRole("button", { name: "Publish" });
    await publish.focus();
    await page.getByRole("tooltip", { name: /^Fix 1 problem first/ }).waitFor();
    expect(await page.evaluate("getComputedStyle(document.activeElement).borderStyle")).toBe("dashed");
    await page.locator(".told").getByRole("button", { name: "Rename it to build" }).click();
    await checked(page);
    await refuses(page, "Publish", "Save the draft first");
    await page.keyboard.press("Control+s");
    await page.getByText("saved as revision 2").waitFor();
    expect(await textOf(server, "ship")).toBe(SHIP);
  });

  it("overwrites nothing that somebody else has saved, and asks before changes are left", {
    tags: ["P5"],
  }, async () => {
    const server = await servers.start();
    await save(server, "ship", SHIP);
    const page = await edit(server, "ship");
    await checked(page);
    const theirs = SHIP.replace("echo back", "echo back to 6");
    await save(server, "ship", theirs, { based_on: 1 });
    await page.getByLabel("Workflow text").press("Control+End");
    await page.keyboard.type("# mine");
    await page.keyboard.press("Control+s");
    const dialog = page.getByRole("dialog", { name: "Somebody else saved revision 2" });
    await dialog.locator("td.del", { hasText: "echo back to 6" }).waitFor();
    await dialog.locator("td.add", { hasText: "# mine" }).waitFor();
    expect(await textOf(server, "ship")).toBe(theirs);
    expect(await barriersOf(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await page.keyboard.press("Control+s");
    await dialog.getByRole("button", { name: "Back to my text" }).click();
    await page.getByRole("link", { name: "Runs" }).first().click();
    const leaving = page.getByRole("alertdialog", { name: "Leave without saving?" });
    await leaving.waitFor();
    await page.keyboard.press("Escape");
    await leaving.waitFor({ state: "detached" });
    expect(new URL(page.url()).hash).toBe("#/workflows/ship/edit");
    await page.keyboard.press("Control+s");
    await dialog.getByRole("button", { name: "Go on from theirs" }).click();
    await page.getByText("echo back to 6").first().waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText("# mine").first().waitFor();
    await page.keyboard.press("Control+s");
    await page.getByText("saved as revision 3").waitFor();
    expect(await textOf(server, "ship")).toBe(`${SHIP}# mine`);
    await page.getByRole("button", { name: "Compare with" }).waitFor({ state: "detached" });
    await page.getByRole("link", { name: "Runs" }).first().click();
    await page.getByText("No runs yet").waitFor();
  });

  it("starts a run by a form of its inputs, and says at a field what is wrong with it", async () => {
    const server = await servers.start();
    await save(server, "ship", SHIP);
    await server.ask("POST", "/api/v1/workflows/ship/publish", { body: {} });
    const page = await browser.open(`${server.url}/#/workflows`);
    await page.getByRole("link", { name: "Start run" }).click();
    await page.getByText("DEPLOY_TOKEN").waitFor();
    expect(
      await page
        .getByLabel(/^target/)
        .locator("option")
        .allTextContents(),
    ).toEqual(["staging (default)", "staging", "production"]);
    await page.getByRole("button", { name: "Start run" }).click();
    await page.getByText("the input `count` is missing").waitFor();
    await page.getByLabel(/^count/).fill("many");
    await page.getByRole("button", { name: "Start run" }).click();
    await page.getByText("the input `count` must be a number, found `many`").waitFor();
    expect(await page.getByLabel(/^count/).getAttribute("aria-invalid")).toBe("true");
    await page.getByLabel(/^count/).fill("4");
    await page.getByLabel(/^target/).selectOption("production");
    await page.getByLabel("Labels").fill("team=core");
    await page.getByRole("button", { name: "Start run" }).click();
    await page.waitForURL(/#\/runs\/\d+/);
    const run = await server.running.store.readRun(Number(/runs\/(\d+)/.exec(page.url())![1]));
    expect(run).toMatchObject({ inputs: { target: "production", count: 4 }, labels: { team: "core" } });
  });

  it("lets a viewer look and change nothing", { tags: ["P6"] }, async () => {
    const server = await servers.start();
    await save(server, "ship", SHIP);
    await server.ask("POST", "/api/v1/workflows/ship/publish", { body: {} });
    const { viewer } = await server.tokens();
    const page = await browser.open(`${server.url}/#/workflows/ship/edit`);
    await page.getByLabel("Token").fill(viewer);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.locator(".react-flow__node", { hasText: "build" }).waitFor();
    for (const name of [/^Save/, "Publish", "Add edge", "Discard", /^Start run/])
      expect(await page.getByRole("button", { name }).count()).toBe(0);
    await page.getByLabel("Workflow text").press("Control+End");
    await page.keyboard.type("hello");
    expect(await page.getByLabel("Workflow text").innerText()).not.toContain("hello");
    await page.goto(`${server.url}/#/workflows/ship/start`);
    await page.getByText("Your token may only read").waitFor();
  });

  it("shows hostile and huge texts as text, and keeps the page small", { tags: ["P10"] }, async () => {
    const server = await servers.start();
    const hostile = '"<img src=x onerror=alert(1)>"';
    const steps = Array.from(
      { length: 2_000 },
      (_, at) => `  s${at}: { exec: x${at === 0 ? "" : `, depends_on: [s${Math.floor(at / 2)}]`} }`,
    );
    const note = `# ${"<script>document.title=1</script>".repeat(30_000)}`;
    await save(server, "huge", `name: huge\ndescription: ${hostile}\nsteps:\n${steps.join("\n")}\n${note}\n`);
    const page = await edit(server, "huge");
    await checked(page);
    await page.locator(".react-flow__node").first().waitFor();
    expect(await page.locator(".react-flow__node").count()).toBeLessThanOrEqual(400);
    expect(await page.title()).toBe("huge · Daruma");
    await save(server, "odd", `name: odd\nsteps:\n  ${hostile}: { exec: x }\n  b: { exec: y }\n`);
    await page.goto(`${server.url}/#/workflows/odd/edit`);
    await page.locator(".told", { hasText: "onerror" }).waitFor();
    expect(await page.locator("img").count()).toBe(0);
  });

  it.each(["light", "dark"])("has no serious barrier, %s", { tags: ["P9"] }, async (theme) => {
    const server = await servers.start();
    await save(server, "ship", SHIP);
    await server.ask("POST", "/api/v1/workflows/ship/publish", { body: {} });
    const edge =
      "transitions:\n  - { from: build, to: roll-back, on: failure }\n  - { from: build, to: cheer, on: failure, priority: 1 }\n";
    await save(server, "ship", `${SHIP.replace("exec: echo out", "exek: echo out")}${edge}`);
    const page = await edit(server, "ship", { theme });
    await page.locator(".told").first().waitFor();
    await page.getByText("to: roll-back").click();
    await page
      .getByRole("complementary", { name: "Edge" })
      .getByText("cheer has 1 too. Give each its own.")
      .waitFor();
    const found = { editor: await barriersOf(page) } as { [at: string]: string[] };
    await page.getByRole("button", { name: "Compare with v1" }).click();
    await page.locator(".difflines .added").first().waitFor();
    found.compare = await barriersOf(page);
    await page.goto(`${server.url}/#/workflows`);
    await page.getByText("v1 published").waitFor();
    found.list = await barriersOf(page);
    await page.goto(`${server.url}/#/workflows/ship/start`);
    await page.getByLabel("Labels").waitFor();
    found.start = await barriersOf(page);
    expect(found).toEqual({ editor: [], compare: [], list: [], start: [] });
    await page.setViewportSize({ width: 390, height: 800 });
    await page.goto(`${server.url}/#/workflows/ship/edit`);
    await page.getByRole("button", { name: "Graph" }).click();
    await page.locator(".react-flow__node", { hasText: "build" }).waitFor();
    expect(await page.getByRole("button", { name: /^Save/ }).count()).toBe(0);
  });
});
