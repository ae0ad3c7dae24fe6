/** A node of a laid out graph, or the place in a column through which a long edge passes. */
export interface Item {
  readonly column: number;
  readonly height: number;
  readonly before: Item[];
  readonly after: Item[];
  /** Its middle. */
  y: number;
}

export interface Way {
  readonly from: Item;
  readonly to: Item;
  readonly through: readonly Item[];
  readonly isBack: boolean;
}

export interface LaidEdge {
  readonly path: string;
  readonly arrow: string;
  /** Leads to its own node or to an earlier one. */
  readonly isBack: boolean;
  /** Middle of its label. */
  readonly labelX: number;
  readonly labelY: number;
}

export const NODE_WIDTH = 152;
export const NODE_HEIGHT = 48;
export const GAP_X = 84;
export const GAP_Y = 26;
/** Distance between edges that lead back below the graph. */
const TRACK = 22;
/** Distance from a node at which an edge that leads back goes down, and the additional distance for each further one. */
const [ASIDE, FURTHER, LANES] = [14, 4, 6];
const ARROW = 7;
/** Radius of a corner. */
const RADIUS = 8;

/** The left end of a column's nodes. */
export const leftOf = (column: number): number => GAP_X / 2 + column * (NODE_WIDTH + GAP_X);

/** The edges of a graph whose nodes are placed, and the lowest point of the edges. `bottom`: the lowest point of the nodes. */
export function drawEdges(ways: readonly Way[], bottom: number): { readonly edges: readonly LaidEdge[]; readonly bottom: number } {
  const [out, into] = [portsOf(ways, "from"), portsOf(ways, "to")];
  const tracks = tracksOf(ways);
  const lowest = bottom + TRACK * (Math.max(-1, ...tracks.values()) + 1);
  const edges = ways.map((way) => {
    const start = { x: leftOf(way.from.column) + NODE_WIDTH, y: out.get(way) ?? 0 };
    const end = { x: leftOf(way.to.column) - ARROW, y: into.get(way) ?? 0 };
    const arrow = `M${end.x} ${whole(end.y - 4)}L${end.x + ARROW} ${whole(end.y)}L${end.x} ${whole(end.y + 4)}Z`;
    if (!way.isBack) return { ...forward(way, start, end), arrow, isBack: false };
    const track = tracks.get(way);
    // An edge to its own node turns directly below it.
    const y = track === undefined ? way.from.y + NODE_HEIGHT / 2 + GAP_Y / 2 : bottom + TRACK * (track + 0.75);
    const aside = ASIDE + FURTHER * ((track ?? 0) % LANES);
    return { ...backward(start, end, { y, aside }), arrow, isBack: true };
  });
  const ownLowest = ways.map(({ from, to }) => (from === to ? from.y + NODE_HEIGHT / 2 + GAP_Y : 0));
  return { edges, bottom: Math.max(lowest, ...ownLowest) + 2 };
}

interface Point {
  readonly x: number;
  readonly y: number;
}

const whole = (value: number): number => Math.round(value * 10) / 10;

function forward({ through }: Way, start: Point, end: Point): Pick<LaidEdge, "path" | "labelX" | "labelY"> {
  let at = start;
  let path = `M${start.x} ${whole(start.y)}`;
  const bendTo = (to: Point) => {
    const middle = whole((at.x + to.x) / 2);
    path += `C${middle} ${whole(at.y)} ${middle} ${whole(to.y)} ${to.x} ${whole(to.y)}`;
    at = to;
  };
  for (const { column, y } of through) {
    bendTo({ x: leftOf(column), y });
    at = { x: leftOf(column) + NODE_WIDTH, y };
    path += `L${at.x} ${whole(y)}`;
  }
  bendTo(end);
  // The middle of its first bend.
  const next = through[0] === undefined ? end : { x: leftOf(through[0].column), y: through[0].y };
  return { path, labelX: whole((start.x + next.x) / 2), labelY: whole((start.y + next.y) / 2) };
}

function backward(
  start: Point,
  end: Point,
  { y, aside }: { readonly y: number; readonly aside: number },
): Pick<LaidEdge, "path" | "labelX" | "labelY"> {
  const [right, left] = [start.x + aside, end.x - aside];
  const path = [
    `M${start.x} ${whole(start.y)}Q${right} ${whole(start.y)} ${right} ${whole(start.y + RADIUS)}`,
    `L${right} ${whole(y - RADIUS)}Q${right} ${whole(y)} ${right - RADIUS} ${whole(y)}`,
    `L${left + RADIUS} ${whole(y)}Q${left} ${whole(y)} ${left} ${whole(y - RADIUS)}`,
    `L${left} ${whole(end.y + RADIUS)}Q${left} ${whole(end.y)} ${end.x} ${whole(end.y)}`,
  ].join("");
  return { path, labelX: whole((right + left) / 2), labelY: whole(y) };
}

/** Heights at which edges leave or reach their nodes: spread over the side in the order of their other ends, back edges lowest. */
function portsOf(ways: readonly Way[], end: "from" | "to"): ReadonlyMap<Way, number> {
  const ports = new Map<Way, number>();
  const beyond = ({ isBack, ...way }: Way): number =>
    isBack ? Number.MAX_VALUE : end === "from" ? (way.through[0] ?? way.to).y : (way.through.at(-1) ?? way.from).y;
  for (const item of new Set(ways.map((way) => way[end]))) {
    const own = ways.filter((way) => way[end] === item).sort((a, b) => beyond(a) - beyond(b));
    for (const [at, way] of own.entries()) ports.set(way, item.y + ((at + 1) / (own.length + 1) - 0.5) * NODE_HEIGHT);
  }
  return ports;
}

/**
 * A track below the graph for each edge that leads back to another node, such that no two share one over the same columns; short ones
 * uppermost.
 */
function tracksOf(ways: readonly Way[]): ReadonlyMap<Way, number> {
  const tracks = new Map<Way, number>();
  const taken: Way[][] = [];
  const span = ({ from, to }: Way) => from.column - to.column;
  const meet = (a: Way, b: Way) => a.to.column <= b.from.column && b.to.column <= a.from.column;
  for (const way of ways.filter(({ isBack, from, to }) => isBack && from !== to).sort((a, b) => span(a) - span(b))) {
    const free = taken.findIndex((others) => !others.some((other) => meet(way, other)));
    const track = free === -1 ? taken.length : free;
    taken[track] = [...(taken[track] ?? []), way];
    tracks.set(way, track);
  }
  return tracks;
}
