/** Names in use, and the most recent ones that went out of use: their data is kept for a while, but not without limit. */
export class RecentNames {
  readonly #former: number;
  #names: readonly string[] = [];

  /** @param former how many names out of use are kept. */
  constructor(former: number) {
    this.#former = former;
  }

  has(name: string): boolean {
    return this.#names.includes(name);
  }

  use(names: Iterable<string>): void {
    const used = [...new Set(names)];
    const former = this.#names.filter((name) => !used.includes(name)).slice(0, this.#former);
    this.#names = [...used, ...former];
  }
}
