import { describe, expect, it } from "vitest";
import { preparePrices, prepareSensitivity } from "./prepareExamination";

describe("what would change a plan", () => {
  it("is told with units and signs, and in words where there is no figure", () => {
    const rows = preparePrices({
      kind: "prices",
      latencySeconds: 4,
      qualityFloor: 85,
      gpus: [
        { gpu: "h100-sxm", more: 1, latencySeconds: 3.5 },
        { gpu: "h100-sxm", more: 8, latencySeconds: null },
      ],
      quality: [
        { points: 1, latencySeconds: null },
        { points: -2, latencySeconds: 4.001 },
      ],
      constraints: [{ says: "no idle GPU", latencySeconds: 3 }],
    });
    expect(rows.map(({ change, p95, difference }) => [change, p95, difference])).toEqual([
      ["1 GPU more, h100-sxm", "3.50\u00a0s", "−0.50\u00a0s"],
      ["8 GPUs more (a node), h100-sxm", "not found in time", ""],
      ["+1 point of quality, a floor of 86.0", "no plan reaches it", ""],
      ["−2 points of quality, a floor of 83.0", "4.00\u00a0s", "no change"],
      ["without “no idle GPU”", "3.00\u00a0s", "−1.00\u00a0s"],
    ]);
  });

  it("shows the plan kept beside the one made anew", () => {
    const of = { keeps: false, routingChanges: true, deploymentChanges: true, kept: { latencySeconds: null, quality: 85.2 } };
    const [busy, weak] = prepareSensitivity({
      kind: "sensitivity",
      cases: [
        { ...of, says: "20 % more requests", replanned: { latencySeconds: 5, quality: 85 } },
        { ...of, says: "a weaker judge", keeps: true, routingChanges: false, deploymentChanges: false, replanned: null },
      ],
    });
    expect(busy).toMatchObject({
      kept: { p95: "overloaded" },
      replanned: { p95: "5.00\u00a0s", quality: "85.0" },
      changes: "thresholds and GPUs",
    });
    expect(weak).toMatchObject({ keeps: true, replanned: null, changes: "–" });
  });
});
