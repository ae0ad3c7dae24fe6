/** Programs a policy remembers at once. */
const MOST_KEPT = 65_536;

/** What is known of programs, bounded: beyond the limit the one that was set least recently is forgotten. */
export class RecentMap<Value> {
  private readonly entries = new Map<string, Value>();
  private readonly mostKept: number;

  constructor(mostKept = MOST_KEPT) {
    this.mostKept = mostKept;
  }

  get size(): number {
    return this.entries.size;
  }

  get(key: string): Value | undefined {
    return this.entries.get(key);
  }

  set(key: string, value: Value): void {
    this.entries.delete(key);
    this.entries.set(key, value);
    if (this.entries.size <= this.mostKept) return;
    for (const oldest of this.entries.keys()) {
      this.entries.delete(oldest);
      return;
    }
  }

  delete(key: string): void {
    this.entries.delete(key);
  }
}
