import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { calibratedScore } from "../calibratedScore";
import { createGate } from "../createGate";
import type { AnswerEvidence, GateNeed } from "../gate";
import { type Calibration, type GateDocument, gateSchema, simpleGatesOf } from "../gateDocument";
import { withCalibrations } from "../withCalibrations";

const anyText = fc.oneof(
  fc.constantFrom("", " ", "42", "The answer is 42.", "#### 1,000", "\\boxed{x}", "(B)", "Answer: C", '{"a": 1}', '{"a": 1', "[1, 2]"),
  fc.string({ maxLength: 40 }),
);

const anyLogProbability = fc.oneof(
  fc.double({ min: -20, max: 0, noNaN: true }),
  fc.constantFrom(0, Number.NEGATIVE_INFINITY, Number.NaN, -9999),
);

const anyTokens = fc
  .array(fc.tuple(fc.string({ maxLength: 5 }), anyLogProbability), { maxLength: 30 })
  .map((tokens) => ({ texts: tokens.map(([text]) => text), logProbabilities: Float64Array.from(tokens, ([, each]) => each) }));

/** Anything that an engine, a judge and other models may give, of empty and broken answers too. */
const anyEvidence: fc.Arbitrary<AnswerEvidence> = fc.record({
  prompt: fc.string(),
  answer: anyText,
  inputTokens: fc.nat({ max: 100_000 }),
  outputTokens: fc.nat({ max: 100_000 }),
  endedByLength: fc.boolean(),
  tokens: fc.option(anyTokens),
  others: fc.option(fc.array(anyText, { maxLength: 5 })),
  judgedScore: fc.option(fc.integer({ min: 0, max: 100 })),
  hasBrokenStructure: fc.boolean(),
});

const anyCalibration: fc.Arbitrary<Calibration> = fc
  .uniqueArray(fc.integer({ min: 0, max: 100 }), { minLength: 2, maxLength: 12 })
  .chain((raw) =>
    fc.array(fc.double({ min: 0, max: 100, noNaN: true }), { minLength: raw.length, maxLength: raw.length }).map((calibrated) => ({
      raw: raw.toSorted((a, b) => a - b),
      calibrated: calibrated.toSorted((a, b) => a - b),
    })),
  );

/** The guarantees of every gate: what the gateway, the planner and the tournament rely on. */
export function gateContract(name: string, document: GateDocument): void {
  const gate = createGate(document);

  describe(`gate contract: ${name}`, () => {
    it("has a document that the schema accepts", () => {
      expect(gateSchema.parse(document)).toEqual(document);
    });

    it("gives a score of 0 to 100 or a cause, of any evidence", () => {
      fc.assert(
        fc.property(anyEvidence, (evidence) => {
          const reading = gate.score(evidence);
          if (reading.kind === "unscored") expect(reading.cause).toMatch(/^no-/);
          else expect(reading.score >= 0 && reading.score <= 100).toBe(true);
        }),
      );
    });

    it("gives the same score for the same evidence", () => {
      fc.assert(
        fc.property(anyEvidence, (evidence) => {
          expect(createGate(document).score(evidence)).toEqual(gate.score(evidence));
        }),
      );
    });

    it("needs no evidence that it does not name, each at most once, and then is ready", () => {
      fc.assert(
        fc.property(anyEvidence, anyEvidence, fc.boolean(), (evidence, answers, fails) => {
          const asked = new Set<GateNeed>();
          let known: AnswerEvidence = { ...evidence, tokens: null, others: null, judgedScore: null };
          for (let need = gate.nextNeed(known, asked); need !== null; need = gate.nextNeed(known, asked)) {
            expect(gate.needs).toContain(need);
            expect(asked.has(need)).toBe(false);
            asked.add(need);
            if (!fails) known = { ...known, ...answered(need, answers) };
          }
          expect(gate.nextNeed(known, asked)).toBeNull();
        }),
      );
    });

    it("asks for no evidence that is known", () => {
      fc.assert(
        fc.property(anyEvidence, (evidence) => {
          const known = { ...evidence, tokens: evidence.tokens ?? { texts: [], logProbabilities: new Float64Array() } };
          expect(gate.nextNeed({ ...known, others: known.others ?? [], judgedScore: known.judgedScore ?? 50 }, new Set())).toBeNull();
        }),
      );
    });

    it("scores an answer with a broken structure 0 without further evidence, unless the judge alone is the gate", () => {
      const evidence = { prompt: "", inputTokens: 1, outputTokens: 1, endedByLength: false, tokens: null, others: null, judgedScore: null };
      const broken = { ...evidence, answer: '{"city": "Par', hasBrokenStructure: true };
      const isJudge = document.kind === "judge";
      const raw = simpleGatesOf(document).map(() => null);
      expect(gate.score(broken)).toEqual(isJudge ? { kind: "unscored", cause: "no-judged-score", raw } : { kind: "scored", score: 0, raw });
      expect(gate.nextNeed(broken, new Set())).toBe(isJudge ? "judge" : null);
    });

    it("has a raw score of 0 to 100 or none for each gate that it consists of, whatever the calibrations", () => {
      fc.assert(
        fc.property(anyEvidence, (evidence) => {
          const { raw } = gate.score(evidence);
          expect(raw).toHaveLength(simpleGatesOf(document).length);
          expect(raw.every((score) => score === null || (score >= 0 && score <= 100))).toBe(true);
          expect(createGate(withCalibrations(document, [])).score(evidence).raw).toEqual(raw);
        }),
      );
    });

    it("has raw and calibrated score of one reading: each gate that it consists of reads the answer once", () => {
      const gates = simpleGatesOf(document).map(createGate);
      fc.assert(
        fc.property(anyEvidence, (evidence) => {
          const own = { ...evidence, hasBrokenStructure: false };
          const [once, ...each] = [gate, ...gates].map((of) => readsOf(of, own));
          for (const [name, reads] of once ?? []) {
            expect(reads).toBeLessThanOrEqual(each.reduce((sum, one) => sum + (one.get(name) ?? 0), 0));
          }
        }),
      );
    });

    if (document.kind !== "sequence") {
      it("has the score that its calibration gives the raw one", () => {
        fc.assert(
          fc.property(anyEvidence, (evidence) => {
            const { raw, ...reading } = gate.score(evidence);
            const [only] = raw;
            fc.pre(only !== undefined && only !== null);
            expect(reading).toEqual({ kind: "scored", score: calibratedScore(only ?? 0, document.calibration) });
          }),
        );
      });

      it("keeps the order of answers under any calibration", () => {
        fc.assert(
          fc.property(anyEvidence, anyEvidence, anyCalibration, (one, other, calibration) => {
            const { calibration: _, ...plain } = document;
            const [raw, calibrated] = [createGate(plain), createGate({ ...document, calibration })];
            const [a, b] = [raw.score(one), raw.score(other)];
            const [c, d] = [calibrated.score(one), calibrated.score(other)];
            fc.pre(a.kind === "scored" && b.kind === "scored" && !one.hasBrokenStructure && !other.hasBrokenStructure);
            if (c.kind !== "scored" || d.kind !== "scored") throw new Error("A calibration removed a score");
            if (a.score <= b.score) expect(c.score).toBeLessThanOrEqual(d.score);
            if (a.score >= b.score) expect(c.score).toBeGreaterThanOrEqual(d.score);
          }),
        );
      });
    }
  });
}

/** How often a gate reads each part of the evidence to score it. */
function readsOf(gate: ReturnType<typeof createGate>, evidence: AnswerEvidence): ReadonlyMap<string | symbol, number> {
  const reads = new Map<string | symbol, number>();
  gate.score(
    new Proxy(evidence, {
      get(target, name) {
        if (name !== "hasBrokenStructure") reads.set(name, (reads.get(name) ?? 0) + 1);
        return Reflect.get(target, name);
      },
    }),
  );
  return reads;
}

function answered(need: GateNeed, { tokens, others, judgedScore }: AnswerEvidence): Partial<AnswerEvidence> {
  switch (need) {
    case "judge":
      return { judgedScore };
    case "log-probabilities":
      return { tokens };
    case "other-answers":
      return { others };
  }
}
