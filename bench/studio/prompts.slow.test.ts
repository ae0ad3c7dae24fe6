import { expect, test } from "vitest";
import { file, needs } from "@/scripts/needs.mjs";
import { sampleMany } from "./prompts";

const MB = 1024 * 1024;

test("a million prompts are sampled in the memory of a thousand, while the studio goes on", {
  ...needs(file("/proc/self/status")),
  timeout: 180_000,
}, async () => {
  const few = await sampleMany(1000, 500);
  const many = await sampleMany(1_000_000, 500);
  expect(many.bytes).toBeGreaterThan(180 * MB);
  expect(few.sampling).toMatchObject({ prompts: 999, skipped: 1, sampled: 500 });
  expect(many.sampling).toMatchObject({ prompts: 999_000, skipped: 1000, sampled: 500, firstBadLine: 1000 });
  expect(many.sampling.peakBytes - few.sampling.peakBytes).toBeLessThan(100 * MB);
  // Reading takes seconds, of which the main thread uses almost nothing.
  const seconds = many.sampling.surveySeconds + many.sampling.sampleSeconds;
  expect(many.sampling.longestHoldMs).toBeLessThan(Math.max(500, seconds * 100));
  expect(many.sampling.busyShare).toBeLessThan(0.25);
});
