import fc from "fast-check";
import { expect, it } from "vitest";
import { modelledSample } from "@/solver/ensemble/replay/modelledSample";
import { recalibrate } from "@/solver/gates/gates";
import { modelAgreements } from "@/solver/workload/modelAgreement";
import { agreementOf, isRightLabel } from "./agreement";

it("counts an answer as right from the middle of its scale, and no answer below a right one", () => {
  expect([0, 49.99, 50, 100].map(isRightLabel)).toEqual([false, false, true, true]);
  const quality = fc.double({ min: 0, max: 100, noNaN: true });
  fc.assert(fc.property(quality, quality, (one, other) => isRightLabel(Math.max(one, other)) || !isRightLabel(Math.min(one, other))));
});

it("is the rule of gates, ladders, judges and modelled samples alike", () => {
  const label = fc.constantFrom(0, 49, 49.5, 50, 50.5, 100);
  fc.assert(
    fc.property(fc.array(label, { minLength: 2, maxLength: 30 }), (labels) => {
      const right = labels.filter(isRightLabel).length;
      expect(
        recalibrate(
          labels.map((of) => ({ score: 70, label: of })),
          undefined,
        ).good,
      ).toBe(right);
      expect(agreementOf(labels.map((of) => ({ score: 100, label: of })))?.value).toBeCloseTo(right / labels.length, 9);
      const promptIds = labels.map((_, at) => `p${at}`);
      const column = (model: string, own: readonly number[]) => {
        const values = Float64Array.from(own);
        return { model, tableName: model, label: values, judged: values, outputTokens: new Int32Array(own.length) };
      };
      const models = [
        column("small", labels),
        column(
          "large",
          labels.map(() => 100),
        ),
      ];
      const [pair] = modelAgreements({ promptIds, models });
      expect(pair?.bothRight).toBeCloseTo(right / labels.length, 9);
      const inputTokens = new Int32Array(labels.length);
      const sample = modelledSample({ promptIds, models, inputTokens, categories: promptIds }, 1);
      expect(sample.models[0]?.correct.reduce((sum, each) => sum + each, 0)).toBe(right);
    }),
  );
});
