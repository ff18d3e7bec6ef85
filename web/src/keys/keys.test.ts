import { describe, expect, it, vi } from "vitest";
import { isSingle, KeyRegistry, type Pressed, shownKeys, strokesOf } from "./registry.js";

function pressed(key: string, change: Partial<Pressed> = {}): Pressed {
  return { key, code: "", shiftKey: false, ctrlKey: false, metaKey: false, altKey: false, ...change };
}

const NOWHERE = { isField: false, isButton: false, isLink: false };
const IN_FIELD = { ...NOWHERE, isField: true };
const ON_BUTTON = { ...NOWHERE, isButton: true };
const ON_LINK = { ...NOWHERE, isLink: true };

function told(): { registry: KeyRegistry; done: string[]; key: (keys: string, inFields?: true) => never } {
  const done: string[] = [];
  const key = (keys: string, inFields?: true) =>
    ({
      keys,
      does: keys,
      run: () => done.push(keys),
      ...(inFields === undefined ? {} : { inFields }),
    }) as never;
  return { registry: new KeyRegistry(), done, key };
}

describe("what was pressed", () => {
  it.each([
    [pressed("j"), ["j"]],
    [pressed("J", { shiftKey: true }), ["shift+j"]],
    [pressed("?", { shiftKey: true }), ["?"]],
    [pressed("{", { ctrlKey: true, altKey: true, getModifierState: (name) => name === "AltGraph" }), ["{"]],
    [pressed(" ", { shiftKey: true }), ["shift+space"]],
    [pressed("!", { shiftKey: true, code: "Digit1" }), ["!", "shift+1"]],
    [pressed("1", { shiftKey: true, code: "Digit1" }), ["1"]],
    [pressed("k", { metaKey: true }), ["mod+k"]],
    [pressed("Enter", { ctrlKey: true }), ["mod+enter"]],
    [pressed("j", { altKey: true }), []],
    [pressed("Shift", { shiftKey: true }), []],
  ])("%j is %j", (press, strokes) => {
    expect(strokesOf(press)).toEqual(strokes);
  });

  it("is single where it prints something", () => {
    expect(["j", "?", "space", "shift+1", "shift+j"].filter((stroke) => !isSingle(stroke))).toEqual([]);
    expect(["esc", "enter", "mod+k", "mod+enter", "up"].filter(isSingle)).toEqual([]);
  });

  it("is shown as keys have it", () => {
    expect(shownKeys("g i", false)).toEqual(["G", "I"]);
    expect(shownKeys("mod+enter", false)).toEqual(["Ctrl ↵"]);
    expect(shownKeys("mod+enter", true)).toEqual(["⌘↵"]);
    expect(shownKeys("+", false)).toEqual(["+"]);
  });
});

describe("keys of the page", () => {
  it("are those of the last who registered; a removed page has none", () => {
    const { registry, done, key } = told();
    registry.add({ title: "Everywhere", keys: [key("j"), key("k")] });
    const page = registry.add({ title: "Inbox", keys: [key("j|down")] });
    registry.press(pressed("j"), NOWHERE, 0);
    registry.press(pressed("k"), NOWHERE, 0);
    registry.press(pressed("ArrowDown"), NOWHERE, 0);
    page.remove();
    registry.press(pressed("j"), NOWHERE, 0);
    expect(done).toEqual(["j|down", "k", "j|down", "j"]);
    expect(registry.layers.map(({ title }) => title)).toEqual(["Everywhere"]);
  });

  it("come one after the other in time, and a wrong second one does nothing", () => {
    const { registry, done, key } = told();
    registry.add({ title: "Everywhere", keys: [key("g i"), key("x")] });
    expect(registry.press(pressed("g"), NOWHERE, 0)).toBe(true);
    registry.press(pressed("i"), NOWHERE, 500);
    registry.press(pressed("g"), NOWHERE, 1_000);
    registry.press(pressed("i"), NOWHERE, 5_000);
    registry.press(pressed("g"), NOWHERE, 6_000);
    expect(registry.press(pressed("x"), NOWHERE, 6_100)).toBe(false);
    expect(done).toEqual(["g i"]);
  });

  it("are complained of where no keyboard sends them", () => {
    const { registry, key } = told();
    const complained = vi.spyOn(console, "error").mockImplementation(() => {});
    for (const keys of ["esc|?", "mod+enter", "shift+space", "g i", "+", "shift+1"])
      registry.add({ title: "Inbox", keys: [key(keys)] });
    expect(complained).not.toHaveBeenCalled();
    for (const keys of ["escape", "g enter2", "ctrl+s", "12"])
      registry.add({ title: "Inbox", keys: [key(keys)] });
    expect(complained.mock.calls.flat()).toEqual(
      ["escape", "enter2", "ctrl+s", "12"].map((stroke) => `no keyboard sends ${stroke}`),
    );
    complained.mockRestore();
  });

  it("do not reach below what is modal", () => {
    const { registry, done, key } = told();
    registry.add({ title: "Inbox", keys: [key("j"), key("mod+enter")] });
    registry.add({ title: "Dialog", keys: [key("esc")], modal: true });
    for (const press of [pressed("j"), pressed("Enter", { ctrlKey: true }), pressed("Escape")])
      registry.press(press, NOWHERE, 0);
    expect(done).toEqual(["esc"]);
  });

  it("are off in a field except for those that say otherwise, and enter and space belong to a button", () => {
    const { registry, done, key } = told();
    registry.add({
      title: "Inbox",
      keys: [key("j"), key("esc", true), key("enter"), key("space"), key("mod+k")],
    });
    for (const press of [pressed("j"), pressed("Escape"), pressed("k", { ctrlKey: true })])
      registry.press(press, IN_FIELD, 0);
    for (const press of [pressed("Enter"), pressed(" "), pressed("j")]) registry.press(press, ON_BUTTON, 0);
    expect(done).toEqual(["esc", "j"]);
  });

  it("leave enter to a link, and have space", () => {
    const { registry, done, key } = told();
    registry.add({ title: "Inbox", keys: [key("enter"), key("space")] });
    for (const press of [pressed("Enter"), pressed(" ")]) registry.press(press, ON_LINK, 0);
    expect(done).toEqual(["space"]);
  });

  it("that print something can be switched off", () => {
    const { registry, done, key } = told();
    registry.add({ title: "Inbox", keys: [key("j"), key("g i"), key("space"), key("esc"), key("mod+k")] });
    registry.switchSingleKeys(false);
    for (const press of [pressed("j"), pressed("g"), pressed("i"), pressed(" "), pressed("Escape")])
      registry.press(press, NOWHERE, 0);
    registry.press(pressed("k", { metaKey: true }), NOWHERE, 0);
    expect(done).toEqual(["esc", "mod+k"]);
  });
});
