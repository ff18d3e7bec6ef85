/** Where a secret is found when it is needed. Never the secret itself. */
export type SecretPlace = { readonly variable: string } | { readonly file: string };

/** A place's name for people. */
export function secretPlaceName(place: SecretPlace): string {
  return "variable" in place ? `the variable ${place.variable}` : `the file ${place.file}`;
}
