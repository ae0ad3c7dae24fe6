import { type EngineKind, LARGE } from "./connections";
import { recordedProfile } from "./measuring";
import type { Records } from "./records";
import { sameRequests } from "./sameRequests";
import type { Pair } from "./summary";
import type { Traffic } from "./traffic";

/**
 * Runs with the simulation of their own requests in place of the plan's prediction, under the recorded profile.
 *
 * @returns without the runs whose profile or traffic is not at hand.
 */
export function samePairs(pairs: readonly Pair[], records: Records, known: readonly Traffic[]): readonly Pair[] {
  return pairs.flatMap((pair) => {
    const { share, requestsPerSecond, measured } = pair;
    const profile = recordedProfile(records, { kind: pair.engine as EngineKind, model: LARGE });
    const traffic = known.find(({ name }) => name === pair.traffic);
    if (profile === null || traffic === undefined) return [];
    const same = sameRequests({ traffic, share, requestsPerSecond, sent: measured.sent }, profile, LARGE);
    return [{ ...pair, predicted: { ...pair.predicted, ...same, refused: null } }];
  });
}
