/** For each answer: the number of pairs with an answer of another label, and of those that its score orders as the labels do, ties half. */
export interface PairCounts {
  readonly pairs: Float64Array;
  readonly right: Float64Array;
}

/** Counts by label groups over a Fenwick tree of scores: n log n for n answers, parallel to them. */
export function pairCounts(answers: readonly LabelledScore[]): PairCounts {
  const scores = [...new Set(answers.map(({ score }) => score))].sort((a, b) => a - b);
  const rankOf = new Map(scores.map((score, rank) => [score, rank]));
  const rank = Int32Array.from(answers, ({ score }) => rankOf.get(score) ?? 0);
  const groups = new Map<number, number[]>();
  for (const [at, { label }] of answers.entries()) {
    const group = groups.get(label);
    if (group === undefined) groups.set(label, [at]);
    else group.push(at);
  }
  const ascending = [...groups].sort(([a], [b]) => a - b).map(([, places]) => places);
  const pairs = new Float64Array(answers.length);
  const right = new Float64Array(answers.length);
  /** Compares every answer with those of the groups before its own, which are all worse or all better. */
  const hold = (against: "worse" | "better", inOrder: readonly (readonly number[])[]): void => {
    const seen = new Int32Array(scores.length + 1);
    let total = 0;
    const upTo = (last: number): number => {
      let sum = 0;
      for (let node = last + 1; node > 0; node -= node & -node) sum += seen[node] ?? 0;
      return sum;
    };
    for (const group of inOrder) {
      for (const at of group) {
        const own = rank[at] ?? 0;
        const below = upTo(own - 1);
        const alike = upTo(own) - below;
        pairs[at] = (pairs[at] ?? 0) + total;
        right[at] = (right[at] ?? 0) + (against === "worse" ? below : total - below - alike) + alike / 2;
      }
      for (const at of group) {
        for (let node = (rank[at] ?? 0) + 1; node < seen.length; node += node & -node) seen[node] = (seen[node] ?? 0) + 1;
      }
      total += group.length;
    }
  };
  hold("worse", ascending);
  hold("better", ascending.toReversed());
  return { pairs, right };
}

/** A measure's score of an answer, and a person's label; both 0..100. */
export interface LabelledScore {
  readonly score: number;
  readonly label: number;
}
