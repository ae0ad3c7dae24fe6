import { describe, expect, it } from "vitest";
import type { GateDocument } from "@/solver/gates/gateDocument";
import { planOnGpus } from "../testing/testCluster";
import { planMismatch } from "./planMismatch";

const nodes = [{ name: "node1", gpus: 4 }];
const peer: GateDocument = { kind: "agreement", answer: "number", peers: ["c"] };
const confidence: GateDocument = { kind: "confidence", measure: "minimum" };

describe("planMismatch", () => {
  const gated = (gate: GateDocument) => {
    const plan = planOnGpus("gated", { a: [0], b: [1] });
    return { ...plan, policy: { ...plan.policy, gates: [gate] } };
  };

  it("lets a plan run on a cluster without a judge where no gate asks one", () => {
    expect(planMismatch({ gpu: "l40s", nodes, isJudged: false }, gated(confidence))).toBeNull();
    expect(planMismatch({ gpu: "l40s", nodes, isJudged: false }, planOnGpus("judged", { a: [0], b: [1] }))).toContain("has no judge");
  });

  it("names the model that a gate compares with and that has no engine", () => {
    expect(planMismatch({ gpu: "l40s", nodes }, gated(peer))).toBe(
      "A gate of the plan compares answers with those of c, of which it deploys no engine.",
    );
  });
});
