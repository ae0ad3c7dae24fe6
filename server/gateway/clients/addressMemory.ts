/** Addresses that are remembered. */
const mostAddresses = 10_000;

/** Something about each of the latest addresses; the one that was silent for longest is forgotten for a new one. */
export class AddressMemory<T> {
  readonly #make: (nowMs: number) => T;
  /** In the order of their last mention. */
  readonly #known = new Map<string, T>();

  constructor(make: (nowMs: number) => T) {
    this.#make = make;
  }

  /** What is remembered of an address, made where it is new. */
  of(address: string, nowMs: number): T {
    const known = this.#known.get(address) ?? this.#make(nowMs);
    this.#known.delete(address);
    this.#known.set(address, known);
    const [oldest] = this.#known.size > mostAddresses ? this.#known.keys() : [];
    if (oldest !== undefined) this.#known.delete(oldest);
    return known;
  }
}
