/** The admin token of every gateway and emulator of a benchmark. */
export const benchToken = "bench";

/** Headers of a request to their admin ports. */
export const adminHeaders = { authorization: `Bearer ${benchToken}`, "content-type": "application/json" } as const;
