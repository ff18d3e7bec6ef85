export function renderOperations(
  operations: readonly unknown[],
  toJsonSchema: (schema: never, io: "input" | "output") => object,
): string;
