import { expect, it } from "vitest";
import type { LiveFrame } from "@/server/contracts/studio";
import { testFrame } from "../testing/testFrame";
import { prepareSilence } from "./prepareSilence";

it("says when the gateway was last heard once its figures are not of now", () => {
  const { gateway } = testFrame();
  const at = (change: Partial<LiveFrame["gateway"]>) => prepareSilence({ gateway: { ...gateway, ...change } });
  expect(at({ state: "fresh", ageSeconds: 1 })).toBeNull();
  expect(at({ state: "stale", ageSeconds: 4.2 })).toBe("gateway last reported 4\u00a0s ago");
  expect(at({ state: "unreachable", ageSeconds: 161 })).toBe("gateway last reported 3\u00a0min ago");
  expect(at({ state: "unreachable", ageSeconds: 0 })).toBe("gateway has not reported yet");
});
