import { expect, it } from "vitest";
import type { Application, Verification } from "@/server/contracts/studio";
import { prepareVerification, verifiedBy } from "./prepareVerification";

const watching: Verification = {
  fromMs: 1_000_000,
  toMs: null,
  state: "watching",
  requests: 120,
  needs: { requests: 200, seconds: 100 },
  says: "Too little has passed.",
  checks: [
    {
      ...{
        name: "p95 end to end",
        kind: "seconds",
        promised: 10,
        band: { low: 9, high: 11 },
        measured: 12,
        interval: { low: 11.5, high: 12.5 },
      },
      ...{ verdict: "fail", reason: "above the band" },
    },
    {
      name: "quality",
      kind: "score",
      promised: 86,
      band: null,
      measured: null,
      interval: null,
      verdict: "undecided",
      reason: "none judged",
    },
  ],
};

const plain = (text: string): string => text.replaceAll("\u00a0", " ");

it("shows what was promised, what was measured and the verdict with its reason", () => {
  const { rows } = prepareVerification(watching);
  expect(
    rows.map(({ name, promised, measured, interval, word, reason }) => [name, promised, measured, interval, word, reason].map(plain)),
  ).toEqual([
    ["p95 end to end", "10.0 s (9.00 s to 11.0 s)", "12.0 s", "11.5 s to 12.5 s", "failed", "above the band"],
    ["quality", "86.0", "–", "", "undecided", "none judged"],
  ]);
});

it("has the verdict in a word beside its sentence", () => {
  const passed = prepareVerification({ ...watching, state: "passed", toMs: 2_000_000, says: "Both figures are as promised." });
  expect(passed).toMatchObject({ word: "passed", tone: "good", says: "Both figures are as promised." });
});

it("lets the window of the last application speak for what runs, and none where it was rolled back or another plan runs since", () => {
  const application = (planId: string, state: Application["state"], second: number) =>
    ({ planId, state, endedAt: `2026-01-01T00:00:0${second}.000Z` }) as Application;
  const done = application("a", "done", 1);
  expect(verifiedBy([done], "a")).toBe(done);
  expect(verifiedBy([done, application("b", "failed", 2)], "a")).toBe(done);
  expect(verifiedBy([done, application("b", "rolled-back", 2)], "a")).toBeNull();
  expect(verifiedBy([done], "b")).toBeNull();
});
