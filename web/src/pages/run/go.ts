import { addressOf, type Place } from "../../place.js";

/** The same page with something of its query changed; null takes it away. */
export function addressWith(place: Place, change: { readonly [name: string]: string | null }): string {
  return addressOf(place.path, { ...Object.fromEntries(place.query), ...change });
}

/** Without a way back for every move: a slider makes hundreds. */
export function goTo(place: Place, change: { readonly [name: string]: string | null }): void {
  location.replace(addressWith(place, change));
}

export function momentOf(place: Place): number | null {
  const at = Number(place.query.get("at"));
  return Number.isSafeInteger(at) && at > 0 ? at : null;
}
