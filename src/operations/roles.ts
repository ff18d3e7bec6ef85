/** What a token may do. An admin may do everything; a worker only the worker's protocol; an operator also reads. */
export const ROLES = ["viewer", "operator", "worker", "admin"] as const;
export type Role = (typeof ROLES)[number];

const GRANTS: { readonly [role in Role]: readonly Role[] } = {
  viewer: ["viewer"],
  operator: ["viewer", "operator"],
  worker: ["worker"],
  admin: ROLES,
};

export function mayAct(as: Role, needed: Role): boolean {
  return GRANTS[as].includes(needed);
}
