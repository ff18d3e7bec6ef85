/** What of a keyboard event says which key it was; tests make their own. */
export interface Pressed {
  readonly key: string;
  readonly code: string;
  readonly shiftKey: boolean;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  getModifierState?(name: string): boolean;
}

const NAMES: { readonly [key: string]: string } = {
  " ": "space",
  Enter: "enter",
  Escape: "esc",
  ArrowUp: "up",
  ArrowDown: "down",
  ArrowLeft: "left",
  ArrowRight: "right",
};

/**
 * The names of what was pressed, best first: `j`, `?`, `space`, `shift+space`, `shift+1`, `mod+k`, `mod+enter`.
 * `mod` is Ctrl, and Cmd on a Mac. A sign counts as it is, however a keyboard makes it; a digit with shift has two names,
 * because what it prints depends on the keyboard.
 */
export function strokesOf(pressed: Pressed): string[] {
  const { key, code, shiftKey } = pressed;
  const isMod = pressed.ctrlKey || pressed.metaKey;
  const isSign = pressed.getModifierState?.("AltGraph") === true;
  if (pressed.altKey && !isSign) return [];
  const name = NAMES[key] ?? (key.length === 1 ? key.toLowerCase() : null);
  const digit = /^Digit([1-9])$/.exec(code)?.[1];
  if (isMod && !isSign) return name === null ? [] : [`mod+${name}`];
  if (shiftKey && digit !== undefined && name !== digit)
    return [...(name === null ? [] : [name]), `shift+${digit}`];
  if (name === null) return [];
  return [shiftKey && (key in NAMES || /^\p{L}$/u.test(key)) ? `shift+${name}` : name];
}

/** Whether a keyboard can send it: `esc`, and not `escape`. */
export function isStroke(stroke: string): boolean {
  const name = stroke === "+" ? stroke : stroke.replace(/^(?:mod|shift)\+/, "");
  return name.length === 1 || Object.values(NAMES).includes(name);
}

/** A key that prints something: whoever speaks or types by accident presses it unawares, so it can be switched off. */
export function isSingle(stroke: string): boolean {
  return stroke === "space" || stroke === "shift+space" || /^(?:shift\+)?.$/u.test(stroke);
}

/** `g i` as people read it: `G`, `I`; `mod+enter`: `Ctrl ↵`. */
export function shownKeys(keys: string, isMac: boolean): string[] {
  const words: { readonly [part: string]: string } = {
    mod: isMac ? "⌘" : "Ctrl",
    enter: "↵",
    up: "↑",
    down: "↓",
    left: "←",
    right: "→",
  };
  const shown = (part: string): string => words[part] ?? (part.length === 1 ? part.toUpperCase() : part);
  return keys.split(" ").map((stroke) =>
    stroke === "+"
      ? "+"
      : stroke
          .split("+")
          .map(shown)
          .join(isMac ? "" : " "),
  );
}
