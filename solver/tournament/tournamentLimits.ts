/** Below so many held-out answers every interval includes every gate. */
export const LEAST_HELD_OUT = 20;

/** Shares of answers sent on at which gates can be compared with random escalation: at 0 and 1 all gates are the same. */
export const SHARE_BOUNDS = { min: 0.01, max: 0.99 } as const;

/** The share where none is chosen. */
export const USUAL_SHARE = 0.5;
