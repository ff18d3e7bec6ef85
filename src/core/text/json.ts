/** Plain data: what can stand in an event, an output or an expression's context. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
