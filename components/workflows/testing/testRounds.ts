import type { GatewayRounds } from "@/server/contracts/studio";
import { type WorkflowDocument, workflowDocumentSchema } from "@/solver/plan/workflowDocument";
import { addConfiguration, emptySet } from "@/solver/workflow/configurationSet";
import { configurationSpace } from "@/solver/workflow/configurationSpace";
import type { Path } from "../justInTime/prepareLattice";
import type { Round } from "../justInTime/prepareRounds";

export const testModels = ["small-8b", "middle-27b", "large-70b"] as const;

/** Voters that read the question and an agent that counts votes, for tests. */
export const testVoting = (voters: number): WorkflowDocument =>
  workflowDocumentSchema.parse({
    name: "voting",
    agents: [
      ...Array.from({ length: voters }, (_, at) => ({ name: `voter-${at + 1}` })),
      { name: "counter", part: "votes", reads: Array.from({ length: voters }, (_, at) => `voter-${at + 1}`) },
    ],
  });

/** A program with these accurate and these remaining configurations, for tests. */
export function testPath(
  document: WorkflowDocument,
  change: Partial<Path> & { readonly members: number[]; readonly kept?: number[] },
): Path {
  const { members, kept = members, ...rest } = change;
  const space = configurationSpace(document, testModels);
  const setOf = (each: readonly number[]) => {
    const set = emptySet(space.size);
    for (const one of each) addConfiguration(set, one);
    return Array.from(set);
  };
  return {
    ...{ programId: "p1", workflow: document.name, agents: [...space.agents], models: [...testModels], configurations: space.size },
    ...{ accurate: setOf(members), left: setOf(kept), chosen: space.agents.map(() => -1) },
    ...rest,
  };
}

/** A round in which one of two requests was dispatched, for tests. */
export const testRound = (change: Partial<Round> = {}): Round => ({
  ...{ nowSeconds: 100, weighed: 2, passedOver: 1, requests: 1, kept: 1 },
  models: testModels.map((model) => ({ model, replicas: 1, down: false, inFlight: 3, saturation: 4, free: 1 })),
  candidates: [
    {
      ...{ utilisationGain: 0.25, flexibility: 0.5, given: [1, 0, 0] },
      assignments: [{ workId: "w1", programId: "p1", agent: "voter-1", model: "small-8b" }],
    },
  ],
  ...change,
});

export const testPredictions: GatewayRounds["predictions"] = {
  ...{
    whole: 90,
    partial: 7,
    none: 2,
    unasked: 1,
    meanMs: 3.2,
    meanBudgetMs: 40,
    evaluatedShare: 0.31,
    waitedFor: { search: 12, engine: 228 },
  },
};
