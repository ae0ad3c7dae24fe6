/** Seconds as sentences give them. */
export const secondsText = (value: number): string => `${value < 10 ? value.toFixed(2) : value.toFixed(1)} s`;

/** A count with its noun, which gets an s unless there is exactly one. */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** A rate of requests as sentences give it. */
export const rateText = (requestsPerSecond: number): string => `${counted(requestsPerSecond, "request")}/s`;

/** A cost as sentences give it: one request's is too small to read. */
export const usdText = (usdPerRequest: number): string => `${(1000 * usdPerRequest).toPrecision(3)} USD per 1,000 requests`;
