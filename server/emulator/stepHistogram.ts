/**
 * A histogram that takes the values of many steps at once, at a cost per bucket: a replica computes its steps in closed form, and the
 * metrics library takes values one by one.
 */
export class StepHistogram {
  /** Values up to each edge. */
  private counts: number[];
  private total = 0;
  private sum = 0;

  /** @param edges upper bounds of the buckets, ascending, without infinity. */
  constructor(private readonly edges: readonly number[]) {
    this.counts = edges.map(() => 0);
  }

  /**
   * Adds values that grow evenly.
   * @param first the smallest of them.
   * @param times how often each is added.
   * @param values how many they are.
   * @param growth from each to the next, 0 or more.
   */
  add(first: number, times: number, values = 1, growth = 0): void {
    if (times === 0 || values === 0) return;
    for (const [index, edge] of this.edges.entries())
      this.counts[index] = (this.counts[index] ?? 0) + times * valuesUpTo(edge, first, values, growth);
    this.total += times * values;
    this.sum += times * (values * first + (growth * values * (values - 1)) / 2);
  }

  /** A histogram with the same values. */
  copy(): StepHistogram {
    const copied = new StepHistogram(this.edges);
    copied.counts = [...this.counts];
    copied.total = this.total;
    copied.sum = this.sum;
    return copied;
  }

  /**
   * The histogram as a page of metrics has it.
   * @param labels of all its series, without braces.
   */
  text(name: string, help: string, labels: string): string {
    const bucket = (edge: string, count: number): string => `${name}_bucket{le="${edge}",${labels}} ${count}`;
    return [
      `# HELP ${name} ${help}`,
      `# TYPE ${name} histogram`,
      ...this.edges.map((edge, index) => bucket(String(edge), this.counts[index] ?? 0)),
      bucket("+Inf", this.total),
      `${name}_sum{${labels}} ${this.sum}`,
      `${name}_count{${labels}} ${this.total}`,
    ].join("\n");
  }
}

function valuesUpTo(edge: number, first: number, values: number, growth: number): number {
  if (first > edge) return 0;
  return growth === 0 ? values : Math.min(values, Math.floor((edge - first) / growth) + 1);
}
