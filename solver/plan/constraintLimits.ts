/**
 * The largest values of constraints; larger ones are mistakes. Separate from the schema, so that a page that reads addresses does not need
 * the schema.
 */
export const constraintLimits = { replicas: 100_000, parallel: 1_024, gpus: 100_000, usdPerHour: 10_000_000 } as const;
