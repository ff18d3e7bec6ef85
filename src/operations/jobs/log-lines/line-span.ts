import { z } from "zod";

const FORM = /^(-?\d{1,15})?(:(\d{1,15})?)?$/;

/** `120:160`, `120:` to the end, `-50:` the last fifty, `7` one alone. Lines count from 1. */
export const lines = z
  .string()
  .max(40)
  .refine((text) => text !== "" && text !== ":" && FORM.test(text), {
    message: "must be lines such as 120:160, 120: or -50: (the last 50)",
  });

export function spanOf(text: string, total: number): { readonly from: number; readonly to: number } {
  const [, first = "1", colon, last] = FORM.exec(text) ?? [];
  const from = first.startsWith("-") ? Math.max(1, total + Number(first) + 1) : Math.max(1, Number(first));
  if (colon === undefined && !first.startsWith("-")) return { from, to: from };
  return { from, to: last === undefined ? Number.POSITIVE_INFINITY : Number(last) };
}
