import { describe, expect, it } from "vitest";
import { writeView } from "@/components/url/useUrlView";
import { noConstraints } from "./constraintsCodec";
import { type PlanView, planCodec } from "./planCodec";
import { formatRouting, parseRouting } from "./routingKey";

const full: PlanView = {
  workload: "w1",
  requestsPerSecond: 120,
  qualityFloor: 85.5,
  latencyBudgetSeconds: 12,
  gpus: 24,
  constraints: { ...noConstraints, excluded: ["llama-3.1-405b-fp8"] },
  judge: { model: "llama-3.1-8b", rubricTokens: 200, outputTokens: 5 },
  judgeSeconds: 0.05,
  router: 0.85,
  kind: "quality-under-latency",
  policy: "slack",
  gateChoice: "confidence",
  slack: 18,
  tau: 1.25,
  latency: "largest-stage",
  heldFor: "point",
  fixed: { models: ["llama-3.1-8b", "llama-3.1-70b"], thresholds: [84] },
  xAxis: "cost",
  yAxis: "quality",
  brush: { x: [0.0001, 0.0002], y: [80, 90.5] },
  baselines: true,
  pins: ["llama-3.1-70b", "llama-3.1-8b@84~llama-3.1-70b@56~llama-3.1-405b-fp8"],
};

describe("planCodec", () => {
  it("brings every part of a view back from the address", () => {
    const params = writeView(planCodec, new URLSearchParams("cluster=prod"), full);
    expect(planCodec.parse(new URLSearchParams(params.toString()))).toEqual(full);
    expect(params.get("cluster")).toBe("prod");
  });

  it("leaves defaults out of the address", () => {
    const view = planCodec.parse(new URLSearchParams());
    expect(writeView(planCodec, new URLSearchParams(), view).toString()).toBe("");
  });

  it("reads what cannot be as the default rather than failing on a typed address", () => {
    const view = planCodec.parse(
      new URLSearchParams("rate=-4&floor=140&gpus=x&objective=fastest&fixed=a@b~c&pins=~&policy=best&slack=12.5&tau=9"),
    );
    expect(view).toEqual(planCodec.parse(new URLSearchParams()));
  });
});

describe("routing keys", () => {
  it("round-trip", () => {
    const key = "llama-3.1-8b@84~llama-3.1-70b@56~llama-3.1-405b-fp8";
    expect(formatRouting(parseRouting(key)!)).toBe(key);
  });

  it("are refused when a threshold is missing, too many, out of range or not whole", () => {
    for (const key of ["", "a~b", "a@5", "a@101~b", "a@5.5~b", "a@1@2~b", "a@-1~b", "a@5~b^", "a@5~b^101", "a@5~b^7^7"])
      expect(parseRouting(key)).toBeNull();
  });
});
