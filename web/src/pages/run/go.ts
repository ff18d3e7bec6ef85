import { addressOf, type Place } from "../../place.js";

/** The address of the same page with another query. Null removes a parameter. */
export function addressWith(place: Place, change: { readonly [name: string]: string | null }): string {
  return addressOf(place.path, { ...Object.fromEntries(place.query), ...change });
}

/** Goes to the address without a new entry in the history, because a slider makes hundreds of moves. */
export function goTo(place: Place, change: { readonly [name: string]: string | null }): void {
  location.replace(addressWith(place, change));
}

export function momentOf(place: Place): number | null {
  const at = Number(place.query.get("at"));
  return Number.isSafeInteger(at) && at > 0 ? at : null;
}
