/** Names that are in use, and the latest ones that were: what is said of a name goes on a while after it, and not for ever. */
export class RecentNames {
  readonly #former: number;
  #names: readonly string[] = [];

  /** @param former how many names that are out of use are kept. */
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
