/**
 * Maximum number of tokens of an answer: as many as the question's own body and the ensemble both allow.
 *
 * @param own The question's own limit; null: as many as the engine allows.
 * @param ensembles The ensemble's limit on such an answer; left out: likewise.
 * @returns undefined where there is no limit.
 */
export function answerLimit(own: number | null, ensembles: number | undefined): number | undefined {
  if (own === null) return ensembles;
  return ensembles === undefined ? own : Math.min(own, ensembles);
}
