/** The largest numbers that constraints can hold; what is beyond them is a slip of the hand. Apart from the schema, so that a page that reads addresses needs none. */
export const constraintLimits = { replicas: 100_000, parallel: 1_024, gpus: 100_000, usdPerHour: 10_000_000 } as const;
