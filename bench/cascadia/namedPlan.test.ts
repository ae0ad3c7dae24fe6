import { expect, it } from "vitest";
import { planFigures } from "./namedPlan";

const shape = (tp: number, pp = 1) => ({ tp, pp });
const plan = {
  stages: [
    { model: "small", replicas: [{ shape: shape(1), count: 1 }] },
    { model: "middle", replicas: [{ shape: shape(4), count: 2 }] },
    {
      model: "large",
      replicas: [
        { shape: shape(4, 3), count: 1 },
        { shape: shape(8), count: 1 },
      ],
    },
  ],
  thresholds: [78, 5],
  judgeGpus: 3,
  predictions: [
    { share: 1, p95Seconds: 2.5 },
    { share: 0.436, p95Seconds: 4 },
    { share: 0.1, p95Seconds: 6.126 },
  ],
};

it("writes a plan's stages as the source does", () => {
  const texts = Object.values(planFigures).map(({ text, unit }) => `${text(plan)} ${unit}`.trim());
  expect(texts).toEqual([
    "2.50, 4.00, 6.13 s",
    "78, 5 judged score",
    "100, 44, 10 %",
    "1, 8, 20; judge 3 GPUs",
    "DP1; DP2 TP4; TP4 PP3 + TP8",
  ]);
});
