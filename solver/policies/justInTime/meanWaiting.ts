/**
 * Mean number of requests that wait for one of `slots` equal slots, for Poisson arrivals and exponential service times: Sakasegawa's
 * approximation of M/M/c (1977), `load^sqrt(2 (slots + 1)) / (1 - load)`. Up to a load of 0.85 at most a quarter of a request above Erlang's
 * formula; it has a derivative in closed form, and needs no sum over slots.
 *
 * @param load offered work over capacity, 0 up to below 1.
 */
export const meanWaiting = (load: number, slots: number): number => load ** exponentOf(slots) / (1 - load);

/**
 * By how much the waiting of all others grows with the load, in requests for a whole load: the derivative of `meanWaiting` less the added
 * request's own share of the waiting, `meanWaiting / load`. It is the toll that makes a request which counts it choose as the sum of all
 * waiting would have it (Pigou; Naor 1969), and grows as `1 / (1 - load)^2` near a load of 1.
 *
 * @param load offered work over capacity, 0 up to below 1.
 */
export function waitingCaused(load: number, slots: number): number {
  if (load === 0) return 0;
  return meanWaiting(load, slots) * ((exponentOf(slots) - 1) / load + 1 / (1 - load));
}

const exponentOf = (slots: number): number => Math.sqrt(2 * (slots + 1));
