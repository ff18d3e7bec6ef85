import { type ReactNode, useEffect, useRef, useSyncExternalStore } from "react";
import { shownKeys } from "./registry.js";
import { registry, switchSingleKeys, useKeys } from "./use-keys.js";

const IS_MAC = /mac/i.test(navigator.platform);

/** Shows keys such as `g i`. */
export function Keys({ keys }: { readonly keys: string }): ReactNode {
  return keys.split("|").map((way, index) => (
    <span key={way} className="keys-of">
      {index > 0 && <span className="dim"> or </span>}
      {shownKeys(way, IS_MAC).map((shown, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a key may come twice
        <kbd key={place}>{shown}</kbd>
      ))}
    </span>
  ));
}

/** Lists all keys that work here. */
export function KeysOverlay({ onClose }: { readonly onClose: () => void }): ReactNode {
  const layers = useSyncExternalStore(registry.watch, () => registry.layers);
  const singleKeys = useSyncExternalStore(registry.watch, () => registry.singleKeys);
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  useKeys("These keys", [{ keys: "esc|?", does: "close", run: onClose, inFields: true }], { modal: true });
  return (
    <dialog ref={dialog} className="dialog keys" aria-labelledby="keys-title" onClose={onClose}>
      <div>
        <h2 id="keys-title">Keys</h2>
        {layers
          .filter(({ keys, modal }) => keys.length > 0 && modal !== true)
          .map(({ title, keys }) => (
            <section key={title}>
              <h3>{title}</h3>
              <dl>
                {keys.map((key) => (
                  <div key={key.keys}>
                    <dt>
                      <Keys keys={key.keys} />
                    </dt>
                    <dd>{key.does}</dd>
                  </div>
                ))}
              </dl>
            </section>
          ))}
        <label className="row">
          <input
            type="checkbox"
            checked={singleKeys}
            onChange={(event) => switchSingleKeys(event.target.checked)}
          />
          Single keys: letters, digits and punctuation work as shortcuts while no field has the focus
        </label>
      </div>
      <footer>
        <button type="button" className="btn" onClick={onClose}>
          Close
        </button>
      </footer>
    </dialog>
  );
}
