import { isSingle, isStroke, type Pressed, strokesOf } from "./strokes.js";

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

export interface Layer {
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
