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
  expect(flow.map((stage) => stage.started)).toEqual([1, 0, 0]);
});

it("tells what starts at a later stage from what is sent on to it, and still answers every request once", () => {
  const later = [
    { model: "small-8b", share: 0.6, startShare: 0.6 },
    { model: "middle-70b", share: 0.5, startShare: 0.3 },
    { model: "large-405b", share: 0.15, startShare: 0.1 },
  ];
  const flow = prepareCascadeFlow({ stages: later, thresholds: [84, 56], identities: identifyModels(later.map((stage) => stage.model)) });
  [0.2, 0.05, 0].forEach((onward, stage) => {
    expect(flow[stage]!.onHeight).toBeCloseTo(onward, 12);
  });
  expect(flow.reduce((sum, stage) => sum + stage.accepted, 0)).toBeCloseTo(1, 12);
});
