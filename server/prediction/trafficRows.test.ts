import { describe, expect, it } from "vitest";
import { type LearningLine, packSketch, programQuietSeconds } from "@/server/contracts/gateway/gatewayLearning";
import { sketchOf } from "@/solver/words/sketch";
import { trafficRows } from "./trafficRows";

const QUIET_MS = 1000 * programQuietSeconds;
const facts = { instructionTokens: 10, promptTokens: 20, inputTokens: 30, workflow: "w", stage: "s", sketch: null };
const line = (program: string, atMs: number, outputTokens: number, more: Partial<LearningLine> = {}): LearningLine => ({
  ...{ startedAtMs: atMs, finishedAtMs: atMs + 10, program, model: "small", accepted: true, outputTokens, mostTokens: null, facts },
  ...more,
});
const text = (lines: readonly LearningLine[]) => lines.map((one) => JSON.stringify(one));
/** Programs of one request, a second apart. */
const singles = (count: number, from = 0) => Array.from({ length: count }, (_, at) => line(`p${from + at}`, 1000 * (from + at), 100 + at));

describe("learning of what a gateway remembers", () => {
  it("learns from the earlier programs and keeps the later ones to measure on, each whole", () => {
    const pairs = singles(100).flatMap((one) => [one, { ...one, startedAtMs: one.startedAtMs + 20, finishedAtMs: one.finishedAtMs + 20 }]);
    const { rows, heldOut, texts } = trafficRows(text(pairs.toReversed()), 100_000 + QUIET_MS);
    expect([rows.prompts, heldOut.prompts, texts]).toEqual([70, 30, false]);
    expect(rows.models[0]?.facts).toHaveLength(140);
    expect(Math.max(...(rows.models[0]?.requestTokens ?? []))).toBe(169);
    expect(Math.min(...(heldOut.models[0]?.requestTokens ?? []))).toBe(170);
  });

  it("counts as remaining what a program's client got from a request on, whichever model wrote it", () => {
    const program = [
      line("many", 0, 10),
      line("many", 100, 200, { accepted: false }),
      line("many", 200, 30, { model: "large" }),
      line("many", 300, 4),
    ];
    const { rows } = trafficRows(text([...program, ...singles(60, 10)]), 1e6 + QUIET_MS);
    const [large, small] = rows.models;
    expect([large?.model, ...(large?.remainingTokens ?? [])]).toEqual(["large", 34]);
    expect(Array.from(small?.remainingTokens.slice(0, 3) ?? [])).toEqual([44, 234, 4]);
    expect(Array.from(small?.requestTokens.slice(0, 3) ?? [])).toEqual([10, 200, 4]);
  });

  it("takes what began before an answer was complete to stand beside it, and a rejected answer's own request to go on", () => {
    const voted = [
      line("votes", 0, 10, { finishedAtMs: 40 }),
      line("votes", 1, 200, { finishedAtMs: 60 }),
      line("votes", 1, 30, { finishedAtMs: 60, accepted: false }),
      line("votes", 2, 4000, { finishedAtMs: 50 }),
      line("votes", 59.5, 50000),
    ];
    const { rows } = trafficRows(text([...voted, ...singles(60, 10)]), 1e6 + QUIET_MS);
    expect(Array.from(rows.models[0]?.remainingTokens.slice(0, 5) ?? [])).toEqual([50010, 50200, 50230, 54000, 50000]);
  });

  it("learns nothing of the length of an answer that its client's limit cut, which counts in what its program wrote all the same", () => {
    const cut = [line("cut", 0, 10, { mostTokens: 256 }), line("cut", 100, 256, { mostTokens: 256 }), line("cut", 200, 4)];
    const { rows, leftOut } = trafficRows(text([...cut, ...singles(60, 10)]), 1e6 + QUIET_MS);
    expect(leftOut).toEqual({ cutAnswers: 1, longSessions: 0 });
    const all = singles(60).map((one) => ({ ...one, mostTokens: one.outputTokens }));
    expect(() => trafficRows(text(all), 1e6 + QUIET_MS)).toThrow(/^Every answer to learn from was as long as its client allowed/);
    expect(Array.from(rows.models[0]?.requestTokens.slice(0, 2) ?? [])).toEqual([10, 4]);
    expect(Array.from(rows.models[0]?.remainingTokens.slice(0, 2) ?? [])).toEqual([270, 4]);
  });

  it("sums what comes after each answer as one by one", () => {
    // Parallel ones, rejected ones, ones shorter than the read-ahead, and ones that began at once.
    const drawn = Array.from({ length: 300 }, (_, at) =>
      line("session", (at * 7919) % 1000, 1 + at, { finishedAtMs: ((at * 7919) % 1000) + [0, 1, 30, 400][at % 4]!, accepted: at % 5 > 0 }),
    );
    const after = (one: LearningLine, of: LearningLine) =>
      one.startedAtMs + 2 >= of.finishedAtMs ||
      (!of.accepted && one.startedAtMs === of.startedAtMs && one.finishedAtMs === of.finishedAtMs);
    const oneByOne = drawn.map((of) =>
      drawn.reduce((sum, one) => sum + (one !== of && one.accepted && after(one, of) ? one.outputTokens : 0), of.outputTokens),
    );
    const { rows } = trafficRows(text([...drawn, ...singles(60, 10)]), 1e6 + QUIET_MS);
    expect(Array.from(rows.models[0]?.remainingTokens.slice(0, 300) ?? [])).toEqual(oneByOne);
  });

  it("leaves out a session that never changes without waiting for it, counts it, and says so where too little is left", () => {
    const endless = Array.from({ length: 60_000 }, (_, at) => line("endless", at, 10));
    const { rows, heldOut, leftOut } = trafficRows(text([...endless, ...singles(60)]), 1e6 + QUIET_MS);
    expect([rows.prompts + heldOut.prompts, leftOut]).toEqual([60, { cutAnswers: 0, longSessions: 1 }]);
    expect(() => trafficRows(text(endless), 1e6 + QUIET_MS)).toThrow(
      /More than 1000 requests under one session .* and left out: use a new session/,
    );
    const longest = Array.from({ length: 1000 }, (_, at) => line("longest", 20 * at, 1));
    const whole = trafficRows(text([...longest, ...singles(60, 10)]), 1e6 + QUIET_MS).rows.models[0];
    expect(whole?.remainingTokens[0]).toBe(1000);
  }, 10_000);

  it("leaves out programs that may go on, and models that answered in the later part alone", () => {
    const late = line("late", 90_000, 5, { model: "new" });
    const going = line("going", 200_000, 7);
    const { rows, heldOut } = trafficRows(text([...singles(70), late, going]), 100_000 + QUIET_MS);
    expect(rows.prompts + heldOut.prompts).toBe(71);
    expect(heldOut.models.map(({ model }) => model)).toEqual(["small"]);
    expect([...rows.models, ...heldOut.models].flatMap(({ requestTokens }) => [...requestTokens])).not.toContain(7);
  });

  it("reads sketches as the gateway packed them", () => {
    const sketch = sketchOf("prove that the sum of two odd numbers is even");
    const sketched = singles(60).map((one) => ({ ...one, facts: { ...facts, sketch: packSketch(sketch) } }));
    const { rows, texts } = trafficRows(text(sketched), 1e6 + QUIET_MS);
    expect(texts).toBe(true);
    expect(rows.models[0]?.facts[0]?.sketch).toEqual(sketch);
  });

  it("leaves a torn line out, and says that there is too little, or what it cannot read", () => {
    expect(trafficRows([...text(singles(60)), '{"startedAtMs":1'], 1e6 + QUIET_MS).rows.prompts).toBe(42);
    expect(() => trafficRows(text(singles(60)), 30_000 + QUIET_MS)).toThrow(
      /remembers 30 programs that have ended, of 60, and learning needs 50/,
    );
    expect(() => trafficRows(text(singles(60)), 30_000 + QUIET_MS)).toThrow(
      /the oldest answer is 10 minutes old. Come back in 10 minutes;/,
    );
    expect(() => trafficRows(text(singles(40)), 1e6 + QUIET_MS)).toThrow(
      /remembers 40 programs .* Come back when more programs were served/,
    );
    const shared = singles(40).map((one) => ({ ...one, share: 0.125 }));
    expect(() => trafficRows(text(shared), 1e6 + QUIET_MS)).toThrow(/It has room for one program in 8 and forgets the others\./);
    const foreign = [...text(singles(2)), '{"secret":"kumquat"}', "kumquat"];
    expect(() => trafficRows(foreign, 0)).toThrow(/^2 of 4 lines of what the gateway remembers are in a form .*, line 3 first\.$/);
  });
});
