/** Two clocks: one for display, one for computing differences. */
export interface Clock {
  /** Wall time in ms since 1970. It stamps frames and events and may be set back and forth, so it is not used for differences. */
  wallMs(): number;
  /** Milliseconds since some moment, monotonic: ages, windows and due times are differences of it. */
  steadyMs(): number;
}

/** This machine's clock. */
export const systemClock: Clock = { wallMs: () => Date.now(), steadyMs: () => performance.now() };
