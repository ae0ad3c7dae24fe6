/**
 * Tokens that an answer may have at most: as many as the question's own body and the ensemble both allow.
 *
 * @param own What the question itself allows; null: as many as the engine allows.
 * @param ensembles What the ensemble allows of such an answer; left out: likewise.
 * @returns undefined where neither bounds it.
 */
export function answerLimit(own: number | null, ensembles: number | undefined): number | undefined {
  if (own === null) return ensembles;
  return ensembles === undefined ? own : Math.min(own, ensembles);
}
