import { mixSeed, type Random, seededRandom } from "@/solver/numeric/random";
import { type BinnedFeatures, binnedFeatures, type FeatureMatrix, MAX_BINS } from "./binnedFeatures";

export interface ForestOptions {
  readonly trees: number;
  /** Number of rows drawn for each tree, with replacement; at most the number of rows. */
  readonly rowsPerTree: number;
  /** Minimum number of them in a leaf. */
  readonly minLeafRows: number;
  /** Maximum number of targets stored in a leaf, evenly spread over its sorted targets. */
  readonly leafTargets: number;
  /** Share of the features that each split chooses from, 0..1. */
  readonly featureShare: number;
  readonly seed: number;
}

/**
 * A quantile regression forest: it stores the targets of every leaf, so that it can give quantiles. The nodes of all trees are in one
 * array; a pair of children is adjacent.
 */
export interface QuantileForest {
  readonly features: number;
  /** Root of each tree. */
  readonly roots: Uint32Array;
  /** Feature that a node splits by; -1 of a leaf. */
  readonly feature: Int16Array;
  /** The left child takes values up to it. */
  readonly threshold: Float32Array;
  /** Left child of a node, the right one is next to it; of a leaf, its number. */
  readonly next: Uint32Array;
  /** Start of each leaf's targets in `ranks`, and at the end their number. */
  readonly leafStart: Uint32Array;
  /** Indices into `targets`, ascending within a leaf. */
  readonly ranks: Uint16Array;
  /** Distinct targets, ascending. */
  readonly targets: Float32Array;
}

/** Ranks are stored in 16 bits. */
const MAX_TARGETS = 65_536;

/** Number of targets of one coarse bucket during the search for a median, as an exponent of 2. */
const COARSE_BITS = 6;

const COARSE_MASK = 2 ** COARSE_BITS - 1;

/**
 * Grows a quantile regression forest (Meinshausen, Journal of Machine Learning Research 7, 2006): trees on bootstrap samples, split where
 * the squared error falls most, every leaf storing targets of its rows. Splits are searched between up to 255 quantiles of a feature.
 *
 * @param targets parallel to the rows.
 * @throws RangeError without rows, or with more than 65,536 distinct targets.
 */
export function growForest(matrix: FeatureMatrix, targets: Float32Array, options: ForestOptions): QuantileForest {
  if (matrix.rows === 0) throw new RangeError("A forest needs rows to grow from");
  const distinct = Float32Array.from(new Set(targets)).sort();
  if (distinct.length > MAX_TARGETS)
    throw new RangeError(`A forest keeps ${MAX_TARGETS} distinct targets at most, found ${distinct.length}`);
  const rankOf = new Map(Array.from(distinct, (target, rank) => [target, rank]));
  const grown: Grown = { roots: [], feature: [], threshold: [], next: [], leafStart: [0], ranks: [] };
  const soil: Soil = {
    bins: binnedFeatures(matrix),
    targets,
    rank: Uint16Array.from(targets, (target) => rankOf.get(target) ?? 0),
    options,
    sums: new Float64Array(MAX_BINS),
    counts: new Int32Array(MAX_BINS),
  };
  for (let tree = 0; tree < options.trees; tree++) growTree(soil, grown, seededRandom(mixSeed(options.seed, "tree", tree)));
  return {
    features: matrix.features,
    roots: Uint32Array.from(grown.roots),
    feature: Int16Array.from(grown.feature),
    threshold: Float32Array.from(grown.threshold),
    next: Uint32Array.from(grown.next),
    leafStart: Uint32Array.from(grown.leafStart),
    ranks: Uint16Array.from(grown.ranks),
    targets: distinct,
  };
}

/**
 * Medians of the targets given each row's features: every leaf that a row reaches has the same weight, divided among the targets in it, and
 * the median is the first target that, together with those before it, has half of the weight.
 */
export function forestMedians(forest: QuantileForest, matrix: FeatureMatrix): Float32Array {
  const { roots, leafStart, ranks, targets } = forest;
  const leaves = new Uint32Array(roots.length);
  const coarse = new Float64Array((targets.length >> COARSE_BITS) + 1);
  const fine = new Float64Array(COARSE_MASK + 1);
  const half = roots.length / 2 - 1e-9;
  const medians = new Float32Array(matrix.rows);
  for (let row = 0; row < matrix.rows; row++) {
    const from = row * matrix.features;
    coarse.fill(0);
    for (let tree = 0; tree < roots.length; tree++) {
      const leaf = leafOf(forest, tree, matrix.values, from);
      leaves[tree] = leaf;
      const start = leafStart[leaf] ?? 0;
      const end = leafStart[leaf + 1] ?? 0;
      const weight = 1 / (end - start);
      for (let at = start; at < end; at++) {
        const bucket = (ranks[at] ?? 0) >> COARSE_BITS;
        coarse[bucket] = (coarse[bucket] ?? 0) + weight;
      }
    }
    let below = 0;
    let bucket = 0;
    while (below + (coarse[bucket] ?? 0) < half && bucket < coarse.length - 1) {
      below += coarse[bucket] ?? 0;
      bucket += 1;
    }
    fine.fill(0);
    for (let tree = 0; tree < roots.length; tree++) {
      const leaf = leaves[tree] ?? 0;
      const start = leafStart[leaf] ?? 0;
      const end = leafStart[leaf + 1] ?? 0;
      const weight = 1 / (end - start);
      for (let at = start; at < end; at++) {
        const rank = ranks[at] ?? 0;
        if (rank >> COARSE_BITS === bucket) fine[rank & COARSE_MASK] = (fine[rank & COARSE_MASK] ?? 0) + weight;
      }
    }
    let place = 0;
    let last = 0;
    for (; place <= COARSE_MASK; place++) {
      const weight = fine[place] ?? 0;
      if (weight === 0) continue;
      below += weight;
      last = place;
      if (below >= half) break;
    }
    medians[row] = targets[(bucket << COARSE_BITS) + last] ?? 0;
  }
  return medians;
}

function leafOf({ roots, feature, threshold, next }: QuantileForest, tree: number, values: Float32Array, from: number): number {
  let node = roots[tree] ?? 0;
  for (;;) {
    const by = feature[node] ?? -1;
    if (by < 0) return next[node] ?? 0;
    node = (next[node] ?? 0) + ((values[from + by] ?? 0) <= (threshold[node] ?? 0) ? 0 : 1);
  }
}

/** A forest's arrays while they grow. */
interface Grown {
  readonly roots: number[];
  readonly feature: number[];
  readonly threshold: number[];
  readonly next: number[];
  readonly leafStart: number[];
  readonly ranks: number[];
}

/** The inputs from which all trees grow. */
interface Soil {
  readonly bins: BinnedFeatures;
  readonly targets: Float32Array;
  readonly rank: Uint16Array;
  readonly options: ForestOptions;
  /** Buffer for the histogram of one feature. */
  readonly sums: Float64Array;
  readonly counts: Int32Array;
}

interface Split {
  readonly feature: number;
  /** Last bin of the left side. */
  readonly bin: number;
}

function growTree(soil: Soil, grown: Grown, random: Random): void {
  const { rank, bins, options } = soil;
  const drawn = Int32Array.from({ length: Math.min(rank.length, options.rowsPerTree) }, () => random.int(rank.length));
  const open = [{ node: addNode(grown), from: 0, to: drawn.length }];
  grown.roots.push(open[0]?.node ?? 0);
  for (let { length } = open; length > 0; { length } = open) {
    const task = open.pop();
    if (task === undefined) return;
    const { node, from, to } = task;
    const split = bestSplit(soil, drawn.subarray(from, to), random);
    if (split === null) {
      grown.next[node] = grown.leafStart.length - 1;
      const held = Uint16Array.from(drawn.subarray(from, to), (row) => rank[row] ?? 0).sort();
      const kept = Math.min(options.leafTargets, held.length);
      for (let at = 0; at < kept; at++) grown.ranks.push(held[Math.floor(((at + 0.5) * held.length) / kept)] ?? 0);
      grown.leafStart.push(grown.ranks.length);
      continue;
    }
    const middle = from + partition(bins, drawn.subarray(from, to), split);
    const left = addNode(grown);
    addNode(grown);
    grown.feature[node] = split.feature;
    grown.threshold[node] = bins.edges[split.feature]?.[split.bin] ?? 0;
    grown.next[node] = left;
    open.push({ node: left + 1, from: middle, to }, { node: left, from, to: middle });
  }
}

/** Adds a leaf to be filled or split. */
function addNode(grown: Grown): number {
  grown.threshold.push(0);
  grown.next.push(0);
  return grown.feature.push(-1) - 1;
}

/** The split that lowers the squared error most; null where no split leaves enough rows on both sides and lowers it. */
function bestSplit({ bins, targets, options, sums, counts }: Soil, rows: Int32Array, random: Random): Split | null {
  if (rows.length < 2 * options.minLeafRows) return null;
  let total = 0;
  for (const row of rows) total += targets[row] ?? 0;
  const unsplit = (total * total) / rows.length;
  let best: Split | null = null;
  let most = unsplit + 1e-9 * Math.abs(unsplit);
  for (const feature of chosen(bins.edges.length, options.featureShare, random)) {
    const of = bins.bin.subarray(feature * targets.length, (feature + 1) * targets.length);
    const last = (bins.edges[feature]?.length ?? 0) + 1;
    if (last < 2) continue;
    sums.fill(0, 0, last);
    counts.fill(0, 0, last);
    for (const row of rows) {
      const bin = of[row] ?? 0;
      sums[bin] = (sums[bin] ?? 0) + (targets[row] ?? 0);
      counts[bin] = (counts[bin] ?? 0) + 1;
    }
    let [sum, count] = [0, 0];
    for (let bin = 0; bin < last - 1; bin++) {
      sum += sums[bin] ?? 0;
      count += counts[bin] ?? 0;
      if (count < options.minLeafRows) continue;
      const rest = rows.length - count;
      if (rest < options.minLeafRows) break;
      const explained = (sum * sum) / count + (total - sum) ** 2 / rest;
      if (explained <= most) continue;
      most = explained;
      best = { feature, bin };
    }
  }
  return best;
}

/** Some of the features, in a random order. */
function chosen(features: number, share: number, random: Random): Int32Array {
  const order = Int32Array.from({ length: features }, (_, at) => at);
  const count = Math.max(1, Math.round(features * share));
  for (let at = 0; at < count; at++) {
    const other = at + random.int(features - at);
    const taken = order[other] ?? 0;
    order[other] = order[at] ?? 0;
    order[at] = taken;
  }
  return order.subarray(0, count);
}

/** Moves the rows of the split's left side to the front. Returns their number. */
function partition(bins: BinnedFeatures, rows: Int32Array, { feature, bin }: Split): number {
  const from = feature * bins.rows;
  let [left, right] = [0, rows.length - 1];
  while (left <= right) {
    const row = rows[left] ?? 0;
    if ((bins.bin[from + row] ?? 0) <= bin) left += 1;
    else {
      rows[left] = rows[right] ?? 0;
      rows[right] = row;
      right -= 1;
    }
  }
  return left;
}
