import fc from "fast-check";
import { expect, it } from "vitest";
import { type Histogram, histogramQuantile } from "./histogramQuantile";
import { modelFrames } from "./modelFrames";

const bounds = [0.1, 0.5, 2, Number.POSITIVE_INFINITY];
/** What counts per bucket add up to. */
const histogram = (counts: readonly number[], of = bounds): Histogram => {
  let sum = 0;
  return { bounds: of, cumulative: counts.map((count) => (sum += count)) };
};
const engine = (ttft: Histogram | null, tpot: Histogram | null = null, model = "m") => ({ model, observed: { ttft, tpot } });

it("gives the percentiles of all requests of a model's engines, as if one engine had taken them", () => {
  const counts = fc.array(fc.nat({ max: 50 }), { minLength: 4, maxLength: 4 });
  fc.assert(
    fc.property(fc.array(counts, { minLength: 1, maxLength: 5 }), (engines) => {
      const together = histogram([0, 1, 2, 3].map((at) => engines.reduce((sum, own) => sum + (own[at] ?? 0), 0)));
      const [frame] = modelFrames(engines.map((own) => engine(histogram(own))));
      expect([frame?.ttftP50Seconds, frame?.ttftP95Seconds, frame?.ttftP99Seconds]).toEqual(
        [0.5, 0.95, 0.99].map((q) => histogramQuantile(q, together)?.value ?? null),
      );
      expect([frame?.limits.ttftP50Seconds, frame?.limits.ttftP95Seconds, frame?.limits.ttftP99Seconds]).toEqual(
        [0.5, 0.95, 0.99].map((q) => histogramQuantile(q, together)?.limit),
      );
    }),
  );
});

it("is no mean of the engines' percentiles: of a busy and a quiet one the busy one counts", () => {
  const [frame] = modelFrames([engine(histogram([990, 0, 0, 0])), engine(histogram([0, 0, 10, 0]))]);
  expect(frame).toMatchObject({ ttftP95Seconds: 0.1, limits: { ttftP95Seconds: "upper" } });
});

it("guesses nothing where buckets differ or an engine has no such histogram", () => {
  const other = histogram([5, 5, 5, 5], [0.2, 0.5, 2, Number.POSITIVE_INFINITY]);
  expect(modelFrames([engine(histogram([1, 1, 1, 1]), histogram([4, 0, 0, 0])), engine(other)])).toEqual([
    expect.objectContaining({ ttftP50Seconds: null, ttftP99Seconds: null, tpotP50Seconds: null }),
  ]);
});

it("leaves out engines that are not fresh, and keeps models apart", () => {
  const silent = { model: "m", observed: null };
  const [one, two, three] = modelFrames([
    engine(histogram([0, 8, 0, 0])),
    silent,
    engine(histogram([0, 0, 8, 0]), null, "n"),
    { ...silent, model: "o" },
  ]);
  expect(one).toMatchObject({ model: "m", ttftP50Seconds: expect.closeTo(0.3, 12), limits: {} });
  expect(two).toMatchObject({ model: "n", ttftP50Seconds: 1.25 });
  expect(three).toMatchObject({ model: "o", ttftP50Seconds: null });
});
