import { expect, it } from "vitest";
import type { PlanSummary } from "@/server/contracts/studio";
import { formatScore, formatSeconds } from "../ui/format";
import { predictedText } from "./predictedText";

it("says of a plan that nothing predicts so, and of one that is not kept nothing", () => {
  const plan = { quality: 61.7, p95Seconds: null } as PlanSummary;
  expect(predictedText(plan, "quality", formatScore)).toBe("61.7");
  expect(predictedText(plan, "p95Seconds", formatSeconds)).toBe("not predicted");
  expect(predictedText(undefined, "quality", formatScore)).toBe("–");
});
