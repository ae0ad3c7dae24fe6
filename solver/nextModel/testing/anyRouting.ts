import * as fc from "fast-check";
import { type CascadeRoutingDocument, MOST_ROUTED_STAGES } from "../cascadeRoutingDocument";

const score = fc.integer({ min: 0, max: 100 });

/** Router scores of as many stages as a document may have. */
export const anyScores = fc.array(score, { minLength: MOST_ROUTED_STAGES, maxLength: MOST_ROUTED_STAGES });

interface Drawn {
  readonly pointsPerGpuSecond: fc.Arbitrary<number>;
  /** Whether all stages cost the same; left out: each has its own cost. */
  readonly equalCosts?: boolean;
  /** Left out: two or three. */
  readonly stages?: number;
  /** GPU-seconds of a gate's score; left out: none or some. */
  readonly gateSeconds?: fc.Arbitrary<number>;
}

/** Any cascade routing, fitted or not: gates may say much or little, models may be right together or apart. */
export function routingOf({ pointsPerGpuSecond, equalCosts = false, stages, gateSeconds }: Drawn): fc.Arbitrary<CascadeRoutingDocument> {
  const gate = fc
    .record({
      gpuSeconds: gateSeconds ?? fc.oneof(fc.constant(0), fc.double({ min: 0, max: 5, noNaN: true })),
      ends: fc.tuple(fc.double({ min: 0, max: 100, noNaN: true }), fc.double({ min: 0, max: 100, noNaN: true })),
      levels: fc.array(
        fc.record({ score: fc.double({ min: 0, max: 100, noNaN: true }), share: fc.double({ min: 0.01, max: 1, noNaN: true }) }),
        {
          minLength: 1,
          maxLength: 4,
        },
      ),
    })
    .map(({ gpuSeconds, ends: [one, other], levels }) => ({
      gpuSeconds,
      calibration: { raw: [0, 100], calibrated: [Math.min(one, other), Math.max(one, other)] },
      levels,
    }));
  return (stages === undefined ? fc.constantFrom(2, 3) : fc.constant(stages)).chain((count) => {
    const many = <Value>(value: fc.Arbitrary<Value>, length: number) => fc.array(value, { minLength: length, maxLength: length });
    return fc.record({
      pointsPerGpuSecond,
      gpuSeconds: equalCosts ? fc.constant(Array<number>(count).fill(1)) : many(fc.double({ min: 0.1, max: 20, noNaN: true }), count),
      heads: many(
        fc.record({ centre: fc.double({ min: -2, max: 2, noNaN: true }), slope: fc.double({ min: 0, max: 2, noNaN: true }) }),
        count,
      ),
      patterns: many(fc.double({ min: -6, max: -0.01, noNaN: true }), 2 ** count),
      gates: many(gate, count - 1),
    });
  });
}

/** The same with gates that say nothing: every answer has one score, which is the quality that is expected of it. */
export const constantGates = (document: CascadeRoutingDocument): CascadeRoutingDocument => ({
  ...document,
  gates: document.gates.map(
    (gate) => gate && { ...gate, calibration: { raw: [0, 100], calibrated: [50, 50] }, levels: [{ score: 50, share: 1 }] },
  ),
});

/** The same with heads that say nothing. */
export const constantHeads = (document: CascadeRoutingDocument): CascadeRoutingDocument => ({
  ...document,
  heads: document.heads.map(({ centre }) => ({ centre, slope: 0 })),
});
