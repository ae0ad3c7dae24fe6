import { expect, it } from "vitest";
import type { Candidate } from "@/solver/cascade/explore/exploration";
import { testKnobs } from "../testing/testTables";
import { compareChoice, missesOf } from "./compareChoice";

const candidate = (own: Partial<Candidate> = {}): Candidate => ({
  routing: 0,
  gpus: [8],
  gpusTotal: 8,
  latencySeconds: 0.3,
  costUsdPerRequest: 0.001,
  quality: 90,
  qualityLow: 89,
  ...own,
});

it("says what a choice gives up and gains against the recommendation, small times in milliseconds", () => {
  const than = (own: Partial<Candidate>) => compareChoice(candidate(own), candidate());
  expect(than({ quality: 89.2, latencySeconds: 0.34 })).toBe("0.8 points lower, +40 ms p95");
  expect(than({ quality: 92, latencySeconds: 1.9, gpusTotal: 10, costUsdPerRequest: 0.00125 })).toBe(
    "2.0 points higher, +1.6 s p95, 2 GPUs more",
  );
  expect(than({ gpusTotal: 7 })).toBe("1 GPU fewer");
  expect(than({ costUsdPerRequest: 0.00112 })).toBe("+12 % cost");
  expect(than({ quality: 90.01, latencySeconds: 0.3001 })).toBe("the same figures");
});

it("says by how much floor and budget are missed, never by nothing", () => {
  const held = { quality: 74.6, latencySeconds: 0.31 };
  expect(missesOf(held, { ...testKnobs, latencyBudgetSeconds: 0.1 })).toEqual(
    ["misses the floor of 75.0 by 0.4 points", "takes 210 ms longer than the budget of 100 ms"].map((text) =>
      text.replaceAll(" ms", "\u00a0ms"),
    ),
  );
  expect(missesOf({ ...held, quality: 74.999 }, testKnobs)).toEqual(["misses the floor of 75.0 by 0.1 points"]);
  expect(missesOf({ quality: 75, latencySeconds: 9 }, testKnobs)).toEqual([]);
});
