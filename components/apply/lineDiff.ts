/** A line in the comparison of two texts. */
export interface TextLine {
  readonly sign: "+" | "-" | "=";
  readonly text: string;
}

export interface TextDiff {
  readonly lines: readonly TextLine[];
  /**
   * Whether no shorter difference exists; otherwise the texts differ too much to be compared line by line, and everything between the first
   * and the last change is replaced.
   */
  readonly shortest: boolean;
}

/** No difference with more changes is searched for: such texts have little in common, and the cost grows with the square of the changes. */
const MOST_CHANGES = 1_000;

const linesOf = (text: string | null): readonly string[] => (text === null || text === "" ? [] : text.replace(/\r?\n$/, "").split(/\r?\n/));

/**
 * The shortest edit script from one text to another by removed and added lines (Myers, "An O(ND) difference algorithm", 1986), removals
 * before additions. null: there is no such text.
 */
export function lineDiff(before: string | null, after: string | null): TextDiff {
  const [a, b] = [linesOf(before), linesOf(after)];
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const [from, to] = [a.slice(head, a.length - tail), b.slice(head, b.length - tail)];
  const middle = shortestEdit(from, to);
  return {
    lines: [
      ...a.slice(0, head).map(kept),
      ...(middle ?? [...from.map(removed), ...to.map(added)]),
      ...(tail === 0 ? [] : a.slice(-tail).map(kept)),
    ],
    shortest: middle !== null,
  };
}

const kept = (text: string): TextLine => ({ sign: "=", text });
const removed = (text: string): TextLine => ({ sign: "-", text });
const added = (text: string): TextLine => ({ sign: "+", text });

/** null: it needs more than `MOST_CHANGES`. */
function shortestEdit(a: readonly string[], b: readonly string[]): readonly TextLine[] | null {
  const most = Math.min(a.length + b.length, MOST_CHANGES);
  /** For each number of changes, how far into `a` every diagonal was reached; a diagonal is lines of `a` less lines of `b`. */
  const reached: Int32Array[] = [];
  let furthest = new Int32Array(2 * most + 3);
  const at = (diagonals: Int32Array, diagonal: number): number => diagonals[diagonal + most + 1] ?? 0;
  for (let changes = 0; changes <= most; changes++) {
    for (let diagonal = -changes; diagonal <= changes; diagonal += 2) {
      let x = comesDown(furthest, diagonal, changes) ? at(furthest, diagonal + 1) : at(furthest, diagonal - 1) + 1;
      while (x < a.length && x - diagonal < b.length && a[x] === b[x - diagonal]) x++;
      furthest[diagonal + most + 1] = x;
      if (x >= a.length && x - diagonal >= b.length) return walkBack(changes);
    }
    reached.push(furthest);
    furthest = furthest.slice();
  }
  return null;

  /** Whether a diagonal is best reached by a line of `b`, that is, an added one. */
  function comesDown(diagonals: Int32Array, diagonal: number, changes: number): boolean {
    return diagonal === -changes || (diagonal !== changes && at(diagonals, diagonal - 1) < at(diagonals, diagonal + 1));
  }

  function walkBack(total: number): readonly TextLine[] {
    const lines: TextLine[] = [];
    let x = a.length;
    let y = b.length;
    for (let changes = total; changes > 0; changes--) {
      const earlier = reached[changes - 1] ?? furthest;
      const diagonal = x - y;
      const down = comesDown(earlier, diagonal, changes);
      const fromX = at(earlier, down ? diagonal + 1 : diagonal - 1);
      const fromY = fromX - (down ? diagonal + 1 : diagonal - 1);
      for (const start = down ? fromX : fromX + 1; x > start; x--) lines.push(kept(a[x - 1] ?? ""));
      lines.push(down ? added(b[fromY] ?? "") : removed(a[fromX] ?? ""));
      [x, y] = [fromX, fromY];
    }
    for (; x > 0; x--) lines.push(kept(a[x - 1] ?? ""));
    return lines.reverse();
  }
}
