import { expect, it } from "vitest";
import { identifyModels } from "../ui/modelIdentity";
import { prepareCascadeFlow } from "./prepareCascadeFlow";

const stages = [
  { model: "small-8b", share: 1 },
  { model: "middle-70b", share: 0.8 },
  { model: "large-405b", share: 0.25 },
];

it("draws each band to the scale of its share, and every request is answered exactly once", () => {
  const flow = prepareCascadeFlow({ stages, thresholds: [84, 56], identities: identifyModels(stages.map((stage) => stage.model)) });
  expect(flow.map((stage) => stage.onHeight)).toEqual([0.8, 0.25, 0]);
  expect(flow.reduce((sum, stage) => sum + stage.accepted, 0)).toBeCloseTo(1, 12);
  expect(flow.map((stage) => stage.threshold)).toEqual([84, 56, null]);
});
