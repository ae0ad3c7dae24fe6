import { expect, it } from "vitest";
import type { SolveRequest } from "@/server/contracts/planRequest";
import { sealPlan } from "@/server/planning/planner/sealPlan";
import { examplePlanDraft } from "@/solver/plan/testing/examplePlan";
import { type ChangeAsked, proposeChange } from "./proposeChange";

/** What is asked of the planner, which finds no plan, for a plan made with these inputs. */
async function askedOf(more: Partial<ChangeAsked["plan"]["inputs"]>): Promise<SolveRequest | null> {
  const draft = examplePlanDraft();
  const plan = sealPlan({ ...draft, inputs: { ...draft.inputs, ...more } }, new Date(0));
  let asked: SolveRequest | null = null;
  const change = await proposeChange(
    {
      async solve(request) {
        asked = request;
        return { outcome: "infeasible", kind: "no-room", reason: "Too small.", bestQuality: null, bestLatencySeconds: null };
      },
      predict: () => Promise.reject(new Error("nothing is compared without a new plan")),
    },
    {
      ...{ plan, clusterId: "c", restartSeconds: 60, signal: new AbortController().signal },
      traffic: { workloadId: "w", requestsPerSecond: 4, basis: [] },
    },
  );
  expect(change).toEqual({ outcome: "none", says: "No plan keeps what was asked under this traffic: Too small." });
  return asked;
}

it("plans again with the gate that was asked for", async () => {
  expect(await askedOf({ gateChoice: "confidence" })).toMatchObject({ gateChoice: "confidence", fixed: null });
});

it("asks for no gate where none was asked for", async () => {
  expect(await askedOf({})).not.toHaveProperty("gateChoice");
});
