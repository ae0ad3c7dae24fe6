import { expect, it } from "vitest";
import { buildPolicy } from "../buildPolicy";
import type { ReplicaView, WaitingWork } from "../core/policy";
import { justInTime } from "../testing/testJustInTime";

const MODELS = ["small", "medium", "large"];
const range = { min: 0, max: 100 };

/** The stage to which rounds by worth send a request of no workflow that is right at the largest model alone. */
function sentTo(failedStages: readonly number[] | undefined): number | undefined {
  const { models } = justInTime({ kind: "beam", width: 1 });
  const policy = buildPolicy(
    justInTime(
      { kind: "worth", rightSeconds: 1000, delayWeight: 1 },
      {
        models: models.map((model) => ({ ...model, meanOutputTokens: 100 })),
        workflows: [],
        singles: {
          ...{ kind: "cascade", stages: MODELS.map((model) => ({ model })), thresholds: [60, 40] },
          judge: { model: "judge", secondsPerCall: 0.1, usdPerCall: 0 },
          approvedRanges: { thresholds: [range, range] },
        },
      },
    ),
  );
  const replicas = MODELS.map(
    (model): ReplicaView => ({
      ...{ id: model, model, maxInFlight: 4, inFlight: 0, accepting: true, kvTokens: null },
      kvUse: { state: "absent" },
    }),
  );
  const work: WaitingWork = {
    ...{ id: "w", programId: "w", stage: 0, programArrivalSeconds: 0, queuedSinceSeconds: 0, inputTokens: 10, failedStages },
    evidence: { routerScores: (model) => (model === "large" ? 100 : 0), answers: [] },
    state: { kind: "queued" },
  };
  policy.observe({ kind: "queued", work });
  const [action] = policy.decide({ nowSeconds: 0, waiting: [work], replicas });
  return action?.kind === "dispatch" ? action.stage : undefined;
}

it("sends a request to the stage of highest worth, and not again to one whose engines failed it", () => {
  expect(sentTo(undefined)).toBe(2);
  expect(sentTo([2])).toBe(0);
});
