/** Whether a value read from JSON is an object with fields: neither an array nor null. */
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
