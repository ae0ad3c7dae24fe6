/** Values of labels by their names; an empty one is the same as none, as in Prometheus. */
export type Labels<L extends string> = Readonly<Record<L, string | number>>;

interface Entry<L extends string, Value> {
  readonly labels: Labels<L>;
  readonly value: Value;
}

interface Branch<L extends string, Value> {
  readonly below: Map<string | number, Branch<L, Value>>;
  entry: Entry<L, Value> | null;
}

const branch = <L extends string, Value>(): Branch<L, Value> => ({ below: new Map(), entry: null });

/** One value for each combination of labels, found without building a key from them. */
export class Labelled<L extends string, Value> {
  readonly labelNames: readonly L[];
  readonly #make: () => Value;
  #root = branch<L, Value>();
  #entries: Entry<L, Value>[] = [];

  constructor(labelNames: readonly L[], make: () => Value) {
    this.labelNames = labelNames;
    this.#make = make;
  }

  get entries(): readonly Entry<L, Value>[] {
    return this.#entries;
  }

  /** The value of these labels, made where there is none; further members of the object are ignored. */
  at(labels: Labels<L>): Value {
    const at = this.#branchOf(labels);
    if (at.entry === null) {
      at.entry = { labels: this.#own(labels), value: this.#make() };
      this.#entries.push(at.entry);
    }
    return at.entry.value;
  }

  /** Removes the values with a label that is `gone`. */
  forget(gone: (label: string, value: string) => boolean): void {
    this.#entries = this.#entries.filter(
      ({ labels }) => !this.labelNames.some((name) => labels[name] !== "" && gone(name, String(labels[name]))),
    );
    this.#root = branch();
    for (const entry of this.#entries) this.#branchOf(entry.labels).entry = entry;
  }

  /** A copy, since its caller may change the object and use it again. */
  #own(labels: Labels<L>): Labels<L> {
    return Object.fromEntries(this.labelNames.map((name) => [name, labels[name]])) as Labels<L>;
  }

  #branchOf(labels: Labels<L>): Branch<L, Value> {
    let at = this.#root;
    for (const name of this.labelNames) {
      const label = labels[name];
      let next = at.below.get(label);
      if (next === undefined) {
        next = branch();
        at.below.set(label, next);
      }
      at = next;
    }
    return at;
  }
}
