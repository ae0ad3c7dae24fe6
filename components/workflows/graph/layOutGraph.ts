import { drawEdges, GAP_X, GAP_Y, type Item, type LaidEdge, leftOf, NODE_HEIGHT, NODE_WIDTH } from "./drawEdges";

/** The graph to lay out. Every edge joins two of the nodes. */
export interface GraphToLayOut {
  /** `depth`: its usual distance from the beginning, which decides which edges of a cycle lead back. */
  readonly nodes: readonly { readonly key: string; readonly depth: number }[];
  readonly edges: readonly { readonly from: string; readonly to: string }[];
}

/** In pixels, from the left upper corner. */
export interface GraphLayout {
  readonly width: number;
  readonly height: number;
  /** In reading order: column by column, each from above. `x` and `y` are the upper left corner. */
  readonly nodes: readonly { readonly key: string; readonly x: number; readonly y: number }[];
  /** In the order in which they were given. */
  readonly edges: readonly LaidEdge[];
}

/** Height of a place where an edge only passes through a column. */
const PASSAGE_HEIGHT = 16;
const SWEEPS = 8;

/**
 * Places the nodes of a directed graph in columns from left to right by Sugiyama's method: a node comes after all its predecessors,
 * ignoring edges that lead back by depth; long edges pass through the columns between; the order within a column follows the neighbours'
 * (barycentres, a fixed number of sweeps), and so do the heights, as closely as order and distances allow. Edges that lead back run below.
 * No two nodes overlap.
 *
 * @throws RangeError on an edge with an end that is no node.
 */
export function layOutGraph({ nodes, edges }: GraphToLayOut): GraphLayout {
  const order = nodes.toSorted((a, b) => a.depth - b.depth || (a.key < b.key ? -1 : 1));
  const rank = new Map(order.map(({ key }, at) => [key, at]));
  const comesAfter = (edge: GraphToLayOut["edges"][number]) => (rank.get(edge.from) ?? 0) < (rank.get(edge.to) ?? 0);
  const columns: Item[][] = [];
  const put = (column: number, height: number): Item => {
    const item: Item = { column, height, before: [], after: [], y: 0 };
    columns[column] ??= [];
    columns[column].push(item);
    return item;
  };
  const placed = new Map<string, Item>();
  for (const { key } of order) {
    const column = edges.reduce(
      (most, edge) => (edge.to === key && comesAfter(edge) ? Math.max(most, (placed.get(edge.from)?.column ?? 0) + 1) : most),
      0,
    );
    placed.set(key, put(column, NODE_HEIGHT));
  }
  const ways = edges.map((edge) => {
    const [from, to] = [placed.get(edge.from), placed.get(edge.to)];
    if (from === undefined || to === undefined) throw new RangeError(`The edge from ${edge.from} to ${edge.to} has an end that is no node`);
    if (from.column >= to.column) return { from, to, through: [], isBack: true };
    const through = Array.from({ length: to.column - from.column - 1 }, (_, at) => put(from.column + 1 + at, PASSAGE_HEIGHT));
    const way = [from, ...through, to];
    for (const [at, item] of through.entries()) {
      item.before.push(way[at] ?? from);
      item.after.push(way[at + 2] ?? to);
    }
    from.after.push(way[1] ?? to);
    to.before.push(way.at(-2) ?? from);
    return { from, to, through, isBack: false };
  });
  settle(columns);
  const drawn = drawEdges(ways, Math.max(0, ...columns.flat().map(({ y, height }) => y + height / 2)));
  return {
    width: Math.max(1, columns.length) * (NODE_WIDTH + GAP_X),
    height: drawn.bottom,
    nodes: Array.from(placed, ([key, { column, y }]) => ({ key, x: leftOf(column), y: y - NODE_HEIGHT / 2 })).sort(
      (a, b) => a.x - b.x || a.y - b.y,
    ),
    edges: drawn.edges,
  };
}

/** Passing edges may be close together; next to a node half the gap between nodes is kept. */
const gapBetween = (a: Item, b: Item): number => ([a, b].filter(({ height }) => height === NODE_HEIGHT).length / 2) * GAP_Y;

const meanHeight = (items: readonly Item[], otherwise: number): number =>
  items.length === 0 ? otherwise : items.reduce((sum, { y }) => sum + y, 0) / items.length;

/** Orders each column by its neighbours and moves its items as close to them as possible. The uppermost one is at 0. */
function settle(columns: readonly Item[][]): void {
  for (const column of columns) pull(column, () => 0);
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const rightwards = sweep % 2 === 0;
    for (const column of rightwards ? columns : columns.toReversed()) {
      const wanted = new Map(column.map((item) => [item, meanHeight(rightwards ? item.before : item.after, item.y)]));
      column.sort((a, b) => (wanted.get(a) ?? 0) - (wanted.get(b) ?? 0));
      pull(column, (item) => wanted.get(item) ?? 0);
    }
  }
  // Both sides at once, in the order found: an item between two columns ends between their items.
  for (const column of columns) {
    const wanted = new Map(column.map((item) => [item, meanHeight([...item.before, ...item.after], item.y)]));
    pull(column, (item) => wanted.get(item) ?? 0);
  }
  const items = columns.flat();
  const top = items.reduce((least, { y, height }) => Math.min(least, y - height / 2), Number.POSITIVE_INFINITY);
  for (const item of items) item.y -= top;
}

/** The heights closest to the wanted ones, by least squares, that keep a column's order and distances: colliding items become a block. */
function pull(column: readonly Item[], wanted: (item: Item) => number): void {
  const blocks: { sum: number; count: number }[] = [];
  const offsets: number[] = [];
  let offset = 0;
  for (const [at, item] of column.entries()) {
    const above = column[at - 1];
    if (above !== undefined) offset += (above.height + item.height) / 2 + gapBetween(above, item);
    offsets.push(offset);
    let block = { sum: wanted(item) - offset, count: 1 };
    for (let last = blocks.at(-1); last !== undefined && last.sum / last.count > block.sum / block.count; last = blocks.at(-1)) {
      block = { sum: last.sum + block.sum, count: last.count + block.count };
      blocks.pop();
    }
    blocks.push(block);
  }
  const starts = blocks.flatMap(({ sum, count }) => Array.from({ length: count }, () => sum / count));
  for (const [at, item] of column.entries()) item.y = (starts[at] ?? 0) + (offsets[at] ?? 0);
}
