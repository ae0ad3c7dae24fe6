import { expect, it } from "vitest";
import type { PromptSurvey } from "@/server/contracts/studio";
import { samplePromptsSchema } from "@/server/contracts/studio/prompts";
import { freeName, holdings, intervalText, prepareSample, retentionText, type SampleForm, startingSample } from "./prepareSample";
import type { PromptUpload } from "./uploadPrompts";

const survey: PromptSurvey = {
  ...{ form: "chat", prompts: 10_000, skipped: 0, badLines: [], meanCharacters: 400, withTime: 0, withReference: 0, withTest: 0 },
  ...{ multiTurn: 0, withTools: 0, cutPrompts: 0 },
  categories: [
    { name: "maths", prompts: 9000 },
    { name: "law", prompts: 1000 },
  ],
};
const upload: PromptUpload = { uploadId: "0b0d1a3e-4b3c-4b0e-9a3e-0a8b6a1b2c3d", survey, from: "support.week.jsonl" };
const form = (change: Partial<SampleForm> = {}): SampleForm => ({ ...startingSample(upload, []), ...change });

it("begins with a sample that the studio takes as it is, named after the file", () => {
  const { request, blocked } = prepareSample(upload, startingSample(upload, []), []);
  expect(blocked).toBeNull();
  expect(samplePromptsSchema.parse(request)).toMatchObject({ name: "support.week", size: 500, by: ["category", "length"] });
});

it("says what interval the size buys, narrower for more prompts and none for all of a file", () => {
  const pointsOf = (size: number): number => Number(/±([\d.]+)/.exec(prepareSample(upload, form({ size }), []).interval)?.[1]);
  expect(pointsOf(500)).toBeCloseTo(3.6, 1);
  expect(pointsOf(2000)).toBeLessThan(pointsOf(500));
  expect(prepareSample(upload, form({ size: 10_000 }), []).interval).toContain("Every prompt of the file is taken");
  expect(intervalText({ confidence: 0.9, points: 0 })).toBe("all are taken");
  expect(intervalText({ confidence: 0.9, points: 3.58 })).toBe("±3.6 points at 90\u00a0%");
});

it("shows what each category gets where nothing else decides, and says why not otherwise", () => {
  const { strata } = prepareSample(upload, form({ by: ["category"] }), []);
  expect(strata?.map(({ name, sampled }) => [name, sampled])).toEqual([
    ["maths", 450],
    ["law", 50],
  ]);
  // 1,000 more without known categories, and a category whose share is a twentieth of a prompt.
  const rare = { ...survey, prompts: 11_001, categories: [...survey.categories, { name: "odes", prompts: 1 }] };
  const shares = (draw: number) => prepareSample({ ...upload, survey: rare }, form({ by: ["category"], draw }), []).strata ?? [];
  expect(shares(1).map(({ name, population }) => [name, population])).toEqual([
    ["maths", 9000],
    ["law", 1000],
    ["odes", 1],
    ["no category", 1000],
  ]);
  const drawn = Array.from({ length: 40 }, (_, at) => shares(at + 1));
  for (const strata of drawn) expect(strata.reduce((sum, { sampled }) => sum + sampled, 0)).toBe(500);
  expect(drawn.some((strata) => strata[2]?.sampled === 0 && strata[2].interval === "not known")).toBe(true);
  const spread = prepareSample(upload, form({ by: ["category", "length"] }), []);
  expect(spread.strata).toBeNull();
  expect(spread.note).toContain("counted when the sample is taken");
  expect(prepareSample(upload, form({ by: ["time"] }), []).note).toBe("No prompt has a time: spreading over it changes nothing.");
});

it("takes no sample without a name, nor more prompts than there are", () => {
  expect(prepareSample(upload, form({ name: " " }), [])).toMatchObject({ request: null, blocked: "Give the sample a name." });
  const one = { ...upload, survey: { ...survey, prompts: 1 } };
  expect(prepareSample(one, startingSample(one, []), []).request).toBeNull();
});

it("says until when texts are kept", () => {
  expect(retentionText({ deleted: true, expiresAt: null })).toBe("deleted");
  expect(retentionText({ deleted: false, expiresAt: null })).toBe("until deleted");
  expect(retentionText({ deleted: false, expiresAt: "2026-03-01T14:05:00Z" })).toMatch(/^until 2026-03-01/);
});

it("says what a sample holds beside prompts", () => {
  expect(holdings({ withReference: 0, withTest: 0, multiTurn: 0, withTools: 0 })).toBe("prompts only");
  expect(holdings({ withReference: 1200, withTest: 0, multiTurn: 3, withTools: 0 })).toBe("1,200 with a reference, 3 of several turns");
});

it("knows traffic by what was kept of it to an interval, though all of that is taken", () => {
  const four = { ...upload, survey: { ...survey, prompts: 4, categories: [] } };
  const interval = (of: PromptUpload) => prepareSample(of, form({ size: 4 }), []);
  expect(interval({ ...four, traffic: { retentionDays: null } })).toMatchObject({
    interval: expect.stringContaining("±41.2 points"),
    request: { ofTraffic: true },
  });
  expect(interval(four)).toMatchObject({ interval: expect.stringContaining("Every prompt"), request: { ofTraffic: false } });
});

it("keeps captured prompts as long as was promised, and says so where it would be longer", () => {
  const captured = { ...upload, traffic: { retentionDays: 14 } };
  const first = startingSample(captured, []);
  expect(first.retentionDays).toBe(14);
  const warning = (retentionDays: number | null) => prepareSample(captured, { ...first, retentionDays }, []).warning;
  expect([warning(14), warning(7)]).toEqual([null, null]);
  for (const days of [15, null]) expect(warning(days)).toContain("within 14 days");
  expect(prepareSample(upload, form({ retentionDays: null }), []).warning).toBeNull();
});

it("begins with a name that no sample has, and takes none that one has", () => {
  expect(startingSample(upload, ["support.week", "support.week 2"]).name).toBe("support.week 3");
  expect(freeName("x".repeat(90), ["x".repeat(80)])).toBe(`${"x".repeat(78)} 2`);
  expect(prepareSample(upload, form({ name: " old " }), ["old"])).toMatchObject({
    request: null,
    blocked: "There is a sample “old” already: give this one another name.",
  });
});
