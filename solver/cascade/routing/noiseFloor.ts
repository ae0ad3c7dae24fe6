/** The difference of two copies of one model on the same prompts: sampling noise and nothing else. */
export interface NoiseFloor {
  /** Share of prompts, 0..1, on which their labels differ. */
  readonly disagreement: number;
  /** Points of quality that the better answer of the two gains over one of them taken at random. */
  readonly gain: number;
  /** Standard error of `gain` for this number of prompts. */
  readonly standardError: number;
}

/** The gain of an oracle that picks the best answer of a ladder, and the part that two copies of one model gain as well. */
export interface OracleGain {
  /** Mean of the best label per prompt, 0..100. */
  readonly oracle: number;
  /** Mean label of the best single model. */
  readonly bestModel: number;
  readonly gain: number;
  /**
   * Shown next to every oracle; null when no model answered twice. A ladder of three or more models has more random draws
   * than two copies have, so its share of noise is larger than this.
   */
  readonly noiseFloor: NoiseFloor | null;
}

/**
 * The noise floor of an oracle, from the labels (0..100) of two copies of the same model on the same prompts: an oracle over the
 * copies is better than either, though neither is better than the other. Half the disagreement for labels that are right or wrong.
 *
 * @throws RangeError when the columns differ in length or are empty.
 */
export function noiseFloor(first: ArrayLike<number>, second: ArrayLike<number>): NoiseFloor {
  const prompts = first.length;
  if (prompts === 0 || second.length !== prompts)
    throw new RangeError(`Two copies must have answered the same prompts, at least one: found ${prompts} and ${second.length}`);
  let differ = 0;
  let sum = 0;
  let squares = 0;
  for (let prompt = 0; prompt < prompts; prompt += 1) {
    const apart = Math.abs((first[prompt] ?? 0) - (second[prompt] ?? 0)) / 2;
    if (apart > 0) differ += 1;
    sum += apart;
    squares += apart * apart;
  }
  const gain = sum / prompts;
  return { disagreement: differ / prompts, gain, standardError: Math.sqrt(Math.max(0, squares / prompts - gain * gain) / prompts) };
}

/** The gain of an oracle over the best single model, with its noise floor for comparison. Labels 0..100 per model and prompt. */
export function oracleGain(labels: readonly Float64Array[], floor: NoiseFloor | null): OracleGain {
  const prompts = labels[0]?.length ?? 0;
  const means = labels.map((own) => own.reduce((sum, label) => sum + label, 0) / prompts);
  let sum = 0;
  for (let prompt = 0; prompt < prompts; prompt += 1) sum += Math.max(...labels.map((own) => own[prompt] ?? 0));
  const bestModel = Math.max(...means);
  return { oracle: sum / prompts, bestModel, gain: sum / prompts - bestModel, noiseFloor: floor };
}
