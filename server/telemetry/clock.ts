/** Two times: one to tell people, one to reckon with. */
export interface Clock {
  /** The wall's time in ms since 1970. It stamps frames and events and may be set back and forth, so no difference is made of it. */
  wallMs(): number;
  /** Milliseconds since some moment, which only ever grow: ages, windows and due times are differences of it. */
  steadyMs(): number;
}

/** This machine's. */
export const systemClock: Clock = { wallMs: () => Date.now(), steadyMs: () => performance.now() };
