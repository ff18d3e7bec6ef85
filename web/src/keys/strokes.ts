/** The part of a keyboard event that identifies the key. Tests make their own. */
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
 * The names of a pressed key, best first: `j`, `?`, `space`, `shift+space`, `shift+1`, `mod+k`, `mod+enter`. `mod` is
 * Ctrl, or Cmd on a Mac. A sign counts as itself, whatever keys produce it. A digit with shift has two names, because
 * the sign depends on the keyboard.
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

/** Whether a keyboard can produce the stroke: `esc`, but not `escape`. */
export function isStroke(stroke: string): boolean {
  const name = stroke === "+" ? stroke : stroke.replace(/^(?:mod|shift)\+/, "");
  return name.length === 1 || Object.values(NAMES).includes(name);
}

/**
 * Whether the key prints something. Speech input or accidents can press such keys unintentionally, so they can be
 * switched off.
 */
export function isSingle(stroke: string): boolean {
  return stroke === "space" || stroke === "shift+space" || /^(?:shift\+)?.$/u.test(stroke);
}

/** Keys as people read them: `G`, `I` for `g i`; `Ctrl ↵` for `mod+enter`. */
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
