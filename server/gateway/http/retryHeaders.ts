/**
 * The official clients of OpenAI and Anthropic send a request that was answered 408, 409, 429 or 5xx twice more by default. They obey
 * `x-should-retry` before the status, and sleep as long as `retry-after` says: those for TypeScript without a bound, those for Python up to
 * 60 s.
 */
type RetryHeaders = Partial<Record<"retry-after" | "x-should-retry", string>>;

/** Says that the same request fails again: because of the request, or because the gateway has used up its own attempts. */
export const noRetry = { "x-should-retry": "false" } as const satisfies RetryHeaders;

/** Says when the same request may succeed. @param seconds whole and at least 1. */
export const retryAfter = (seconds: number): RetryHeaders => ({ "retry-after": String(seconds) });

/** Seconds after which a gateway that is starting has its first configuration: the studio sends it within a few seconds. */
export const startingRetrySeconds = 2;

/** Seconds after which another gateway answers in place of one that shuts down. */
export const drainingRetrySeconds = 1;
