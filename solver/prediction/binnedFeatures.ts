/** Maximum number of bins of a feature: the bin's index is stored in a byte. */
export const MAX_BINS = 256;

/** Features by bins between quantiles of their values, feature by feature. */
export interface BinnedFeatures {
  readonly rows: number;
  /** `bin[feature * rows + row]`: number of edges below the value. */
  readonly bin: Uint8Array;
  /** Edges of each feature, ascending: bin b holds values above edge b - 1 and up to edge b. */
  readonly edges: readonly Float32Array[];
}

/** Bins of every feature. Edges are values that occur, so that any monotone rescaling gives the same bins. */
export function binnedFeatures({ rows, features, values }: FeatureMatrix): BinnedFeatures {
  const bin = new Uint8Array(rows * features);
  const edges = Array.from({ length: features }, (_, feature) => {
    const column = Float32Array.from({ length: rows }, (__, row) => values[row * features + feature] ?? 0);
    const edgesOf = edgesAmong(column.slice().sort());
    for (let row = 0; row < rows; row++) bin[feature * rows + row] = edgesBelow(edgesOf, column[row] ?? 0);
    return edgesOf;
  });
  return { rows, bin, edges };
}

/** All values but the largest where they are few, else quantiles of them. */
function edgesAmong(sorted: Float32Array): Float32Array {
  const distinct = Float32Array.from(new Set(sorted));
  if (distinct.length <= MAX_BINS) return distinct.slice(0, -1);
  const largest = sorted[sorted.length - 1] ?? 0;
  const picked = new Set<number>();
  for (let edge = 1; edge < MAX_BINS; edge++) {
    const value = sorted[Math.floor((edge * sorted.length) / MAX_BINS)] ?? 0;
    if (value < largest) picked.add(value);
  }
  return Float32Array.from(picked);
}

function edgesBelow(edges: Float32Array, value: number): number {
  let [low, high] = [0, edges.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((edges[middle] ?? 0) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Rows of numbers, one after another: `values[row * features + feature]`. */
export interface FeatureMatrix {
  readonly rows: number;
  readonly features: number;
  readonly values: Float32Array;
}
