import { renderToStaticMarkup } from "react-dom/server";
import { expect, it } from "vitest";
import type { RollOutDip } from "@/server/contracts/studio";
import { DipChart } from "./DipChart";
import { prepareDip } from "./prepareDip";

const dip: RollOutDip = {
  ...{ requestsPerSecond: 60, basis: [], says: "" },
  before: { capacityPerSecond: 100, p95Seconds: 10 },
  phases: [{ fromStep: "1", toStep: "4", seconds: 90, planId: "p", replicas: [], capacityPerSecond: 40, p95Seconds: null }],
  after: { capacityPerSecond: 120, p95Seconds: 8 },
};

it("hatches every bar, as all of it is modelled, and draws no latency for a stretch that does not keep up", () => {
  const markup = renderToStaticMarkup(<DipChart picture={prepareDip(dip, [])} />);
  expect(markup.match(/--hatch/g)).toHaveLength(3 + 2);
  expect(markup).toContain("overloaded");
});

it("is told as one sentence to who cannot see it, the rate of now with it", () => {
  const markup = renderToStaticMarkup(<DipChart picture={prepareDip(dip, [])} />);
  expect(markup).toContain('role="img"');
  expect(markup).toMatch(/aria-label="Modelled: Before 100\/s, p95 10.0.s; Steps 1 to 4 40\/s, p95 overloaded; .* The rate is 60\/s."/);
});
