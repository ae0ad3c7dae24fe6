/** One of the two models whose weights are in `models/`. */
export interface RealModel {
  readonly name: "arith-small" | "arith-large";
  readonly width: number;
  readonly heads: number;
  readonly trainedLayers: number;
  /** Layers added when the model is prepared; see `realModels`. */
  readonly extraLayers: number;
  readonly contextTokens: number;
}

/**
 * The real models, the smaller one first. With their further layers a token takes eight times as many multiplications in the large one as
 * in the small one, as between an 8 B and a 70 B model; at trained depth both would cost little more than the engine's own overhead.
 */
export const realModels: readonly RealModel[] = [
  { name: "arith-small", width: 64, heads: 2, trainedLayers: 2, extraLayers: 10, contextTokens: 2048 },
  { name: "arith-large", width: 128, heads: 4, trainedLayers: 4, extraLayers: 20, contextTokens: 2048 },
];
