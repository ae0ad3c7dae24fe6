import { expect, test } from "vitest";
import { fittedToOthers, isJudged, judge, openRuns } from "./recordedSweep";

test("a profile fitted to closed loops of a real engine predicts open loops at lengths it had not seen: saturation within 15 %, p95 within 25 %", () => {
  const runs = openRuns();
  const { profile, rows } = fittedToOthers(runs);
  expect(rows).toBe(28);
  const judged = judge(profile, runs).filter(isJudged);
  expect(judged.map(({ what }) => what).sort()).toEqual([...Array(8).fill("p95"), ...Array(4).fill("saturation")]);
  for (const { lengths, what, share, error } of judged) {
    expect(Math.abs(error), `${lengths}, ${what} at ${share}`).toBeLessThan(what === "saturation" ? 0.15 : 0.25);
  }
}, 240_000);
