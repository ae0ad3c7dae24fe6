import type { PlacedSession } from "@/server/contracts/studio/ensembles";
import type { OrderedSession } from "@/server/store/documents/batchOrder";

/**
 * Deals each expert's prompts to its sessions, in the planned numbers: the sessions take turns in proportion, so that sorted prompts, long
 * ones last, do not all go to one of them.
 *
 * @param positions of each expert's prompts, rising.
 * @returns sessions as they were placed, each with its positions, rising.
 * @throws RangeError if sessions of an expert are placed for more or fewer prompts than it has.
 */
export function dealPrompts(
  workers: readonly (readonly PlacedSession[])[],
  positions: ReadonlyMap<string, readonly number[]>,
): readonly (readonly OrderedSession[])[] {
  const dealt = workers.map((sessions) => sessions.map(({ model, prompts }) => ({ model, prompts, positions: [] as number[] })));
  for (const [model, own] of positions) {
    const hands = dealt.flat().filter((hand) => hand.model === model);
    const placed = hands.reduce((sum, { prompts }) => sum + prompts, 0);
    if (placed !== own.length) throw new RangeError(`${placed} prompts of ${model} are placed, and it has ${own.length}`);
    for (const position of own) emptiest(hands)?.positions.push(position);
  }
  return dealt.map((sessions) => sessions.map(({ model, positions: at }) => ({ model, positions: at })));
}

interface Hand {
  readonly prompts: number;
  readonly positions: number[];
}

/** The one with the smallest share of its planned number. */
function emptiest<Some extends Hand>(hands: readonly Some[]): Some | undefined {
  let found: Some | undefined;
  let least = 1;
  for (const hand of hands) {
    const share = hand.positions.length / hand.prompts;
    if (share < least) [found, least] = [hand, share];
  }
  return found;
}
