import { isSingle, isStroke, type Pressed, strokesOf } from "./strokes.js";

/** One key of a page, or one key after another (`g i`). */
export interface Key {
  /** As `strokesOf` names them; several that do the same are separated by `|`. */
  readonly keys: string;
  /** For the overlay of all keys, as the rest of a sentence: "next problem". */
  readonly does: string;
  readonly run: () => void;
  /** Also while somebody types in a field: for `mod+enter` and `esc`. */
  readonly inFields?: true;
}

export interface Layer {
  /** The heading in the overlay: "Inbox". */
  readonly title: string;
  readonly keys: readonly Key[];
  /** What lies over the page, such as a dialog: no key reaches what is below. */
  readonly modal?: boolean;
}

/** Where a key was pressed. */
export interface Focused {
  /** Text is typed there. */
  readonly isField: boolean;
  /** Enter and space press it. */
  readonly isButton: boolean;
  /** Enter follows it; space does nothing to it. */
  readonly isLink: boolean;
}

const SEQUENCE_MS = 1_500;

/** All keys of the page. What was registered last is asked first. */
export class KeyRegistry {
  readonly #layers: { current: Layer }[] = [];
  readonly #watchers = new Set<() => void>();
  #begun: { readonly stroke: string; readonly at: number } | null = null;
  #singleKeys = true;
  #shown: readonly Layer[] = [];

  /** Keys that a page has while it is shown; what it gives back changes or removes them. */
  add(layer: Layer): { change(next: Layer): void; remove(): void } {
    // Told, not thrown: a page without one of its keys is better than none. Tests in a browser fail by it.
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

  /** For the overlay. */
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

  /** Whether the key did something, so that the browser need not. */
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
