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
function isStroke(stroke: string): boolean {
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

/** A key of a page, or a sequence of keys (`g i`). */
export interface Key {
  /** Keys in the notation of `strokesOf`. Alternatives are separated by `|`. */
  readonly keys: string;
  /** Its effect, as the overlay shows it: "next problem". */
  readonly does: string;
  readonly run: () => void;
  /** Also works while somebody types in a field. For `mod+enter` and `esc`. */
  readonly inFields?: true;
}

interface Layer {
  /** The group's title in the overlay: "Inbox". */
  readonly title: string;
  readonly keys: readonly Key[];
  /** For something above the page, such as a dialog: no key reaches the page below. */
  readonly modal?: boolean;
}

/** The element that had the focus. */
export interface Focused {
  /** It takes text. */
  readonly isField: boolean;
  /** Enter and space press it. */
  readonly isButton: boolean;
  /** Enter follows it; space has no effect. */
  readonly isLink: boolean;
}

const SEQUENCE_MS = 1_500;

/** All keys of the page. The latest registration takes precedence. */
export class KeyRegistry {
  readonly #layers: { current: Layer }[] = [];
  readonly #watchers = new Set<() => void>();
  #begun: { readonly stroke: string; readonly at: number } | null = null;
  #singleKeys = true;
  #shown: readonly Layer[] = [];

  /** Adds the keys of a page while it is shown. Returns functions to change or remove them. */
  add(layer: Layer): { change(next: Layer): void; remove(): void } {
    // Logged, not thrown, because a page without one of its keys is better than none. Browser tests fail on it.
    for (const { keys } of layer.keys)
      for (const stroke of keys.split(/[| ]/))
        if (!isStroke(stroke)) console.error(`no keyboard sends ${stroke}`);
    const slot = { current: layer };
    this.#layers.push(slot);
    this.#tell();
    return {
      change: (next) => {
        slot.current = next;
      },
      remove: () => {
        this.#layers.splice(this.#layers.indexOf(slot), 1);
        this.#tell();
      },
    };
  }

  /** The layers that the overlay shows. */
  get layers(): readonly Layer[] {
    return this.#shown;
  }

  get singleKeys(): boolean {
    return this.#singleKeys;
  }

  switchSingleKeys(on: boolean): void {
    this.#singleKeys = on;
    this.#tell();
  }

  watch = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  };

  /** Handles a key. Returns true if it had an effect, so that the browser should ignore it. */
  press(pressed: Pressed, focused: Focused, now: number): boolean {
    const begun = this.#begun !== null && now - this.#begun.at <= SEQUENCE_MS ? this.#begun.stroke : null;
    this.#begun = null;
    for (const stroke of strokesOf(pressed)) {
      if (focused.isButton && (stroke === "enter" || stroke === "space")) return false;
      if (focused.isLink && stroke === "enter") return false;
      if (isSingle(stroke) && (!this.#singleKeys || focused.isField)) continue;
      const found = this.#find(begun === null ? stroke : `${begun} ${stroke}`, focused);
      if (found === "begins") {
        this.#begun = { stroke, at: now };
        return true;
      }
      if (found !== null) {
        found.run();
        return true;
      }
    }
    return false;
  }

  #find(typed: string, focused: Focused): Key | "begins" | null {
    for (const { current } of [...this.#layers].reverse()) {
      for (const key of current.keys) {
        if (focused.isField && key.inFields !== true) continue;
        const ways = key.keys.split("|");
        if (ways.includes(typed)) return key;
        if (ways.some((way) => way.startsWith(`${typed} `))) return "begins";
      }
      if (current.modal === true) return null;
    }
    return null;
  }

  #tell(): void {
    this.#shown = this.#layers.map(({ current }) => current);
    for (const watcher of this.#watchers) watcher();
  }
}
