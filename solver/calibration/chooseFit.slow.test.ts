import fc from "fast-check";
import { expect, test } from "vitest";
import { vllmProfile } from "../hardware/builtInProfiles";
import { catalogueOf, noUserCards } from "../hardware/catalogue";
import type { KernelProfile } from "../hardware/engineProfile";
import { seededRandom } from "../numeric/random";
import { choiceError, choiceText, chooseFit } from "./chooseFit";
import { runSimulator } from "./predictServing";
import type { ServingRow } from "./servingRow";

const cards = catalogueOf(noUserCards);
const options = { efficiencies: null, id: "own", name: "Own", asOf: "2026-11-21", cards };

/** The measurements of a server that follows the profile, each time off by up to `noise`. */
function measuredUnder(profile: KernelProfile, runs: readonly Partial<ServingRow>[], noise = 0): ServingRow[] {
  const simulate = runSimulator(profile, cards);
  const random = seededRandom(7);
  const noisy = (seconds: number) => seconds * (1 + noise * (2 * random.next() - 1));
  return runs.map((run, index) => {
    const row: ServingRow = {
      ...{ line: index + 2, id: `run ${index}`, origin: "run", engine: "vllm", model: "llama-3.1-8b", gpu: "h100-sxm" },
      ...{ precision: "bf16", kvPrecision: "bf16", shape: { tp: 1, pp: 1 }, inputTokens: 1000, outputTokens: 60, concurrency: 8 },
      measured: { ttftSeconds: null, tpotSeconds: null },
      ...run,
    };
    const simulated = simulate(row);
    if ("reason" in simulated) throw new Error(simulated.reason);
    return { ...row, measured: { ttftSeconds: noisy(simulated.ttftSeconds), tpotSeconds: noisy(simulated.tpotSeconds) } };
  });
}

const varied = [200, 2000, 8000].flatMap((inputTokens) => [1, 8].map((concurrency) => ({ inputTokens, concurrency })));
const changed = (change: Partial<KernelProfile["coefficients"]>): KernelProfile => ({
  ...vllmProfile,
  coefficients: { ...vllmProfile.coefficients, ...change },
});
const slowKernels = changed({ compute: 0.3, weightRead: 0.4, requestSeconds: 0.02 });

test("efficiencies are fitted where the kernels are slower than the tables say, and both errors on rows kept aside are given", () => {
  const fit = chooseFit(measuredUnder(slowKernels, varied), vllmProfile, options);
  if (fit.outcome !== "fitted") throw new Error(fit.reason);
  const { kind, efficiencies, errors } = fit.choice;
  expect([kind, efficiencies]).toEqual(["smaller-error", true]);
  if (errors === null) throw new Error("no errors");
  expect(choiceError(errors.withEfficiencies, false)).toBeLessThan(choiceError(errors.hostTerms, false));
  expect(fit.profile.coefficients.compute).toBeLessThan(0.6 * vllmProfile.coefficients.compute);
  expect(fit.heldOutErrors).toEqual(errors.withEfficiencies);
  expect(choiceText(fit.choice)).toMatch(
    /^Efficiencies of kernels are fitted too: on rows kept aside the error is [\d.]+ % with efficiencies and [\d.]+ % without \(mean over/,
  );
});

test("the fit of fewer terms is taken where efficiencies predict unseen rows no better", () => {
  const fit = chooseFit(measuredUnder(changed({ requestSeconds: 0.08 }), varied, 0.08), vllmProfile, options);
  if (fit.outcome !== "fitted") throw new Error(fit.reason);
  expect(fit.choice.efficiencies).toBe(false);
  expect(fit.profile.coefficients.compute).toBe(vllmProfile.coefficients.compute);
  expect(choiceText(fit.choice)).toMatch(/^Only host and link terms are fitted, not the efficiencies of kernels: on rows kept aside/);
});

test("what is asked for is fitted, either way, whatever the error", () => {
  const rows = measuredUnder(slowKernels, varied);
  for (const efficiencies of [true, false]) {
    const fit = chooseFit(rows, vllmProfile, { ...options, efficiencies });
    if (fit.outcome !== "fitted") throw new Error(fit.reason);
    expect(fit.choice).toEqual({ kind: "asked", efficiencies, errors: null, refusal: null, tpotOnly: false });
    expect(fit.profile.coefficients.compute !== vllmProfile.coefficients.compute).toBe(efficiencies);
  }
});

test("rows of one length are kept aside by requests in flight, which choose but claim nothing of other lengths", () => {
  const one = [1, 2, 4, 8, 16, 32].map((concurrency) => ({ concurrency }));
  const fit = chooseFit(measuredUnder(slowKernels, one), vllmProfile, options);
  if (fit.outcome !== "fitted") throw new Error(fit.reason);
  expect(fit.keptAside?.by).toBe("concurrency");
  expect(fit.choice.errors?.hostTerms.tpot.rows).toBe(one.length);
  expect(fit.heldOutErrors).toBeNull();
});

test("why the other fit was refused is said with the choice", () => {
  const refusal = "These rows contradict the kernels' tables: even the best fit misses their TPOT by 57 %.";
  expect(choiceText({ kind: "other-refused", efficiencies: true, errors: null, refusal, tpotOnly: false })).toBe(
    `Efficiencies of kernels are fitted too, as the fit without them is refused: ${refusal}`,
  );
});

test("the order of rows in the table changes nothing in the choice", () => {
  const rows = measuredUnder(slowKernels, varied);
  const { choice } = chooseFit(rows, vllmProfile, options) as { choice: unknown };
  fc.assert(
    fc.property(fc.shuffledSubarray(rows, { minLength: rows.length }), (shuffled) => {
      expect(chooseFit(shuffled, vllmProfile, options)).toMatchObject({
        choice: { efficiencies: (choice as { efficiencies: boolean }).efficiencies },
      });
    }),
    { numRuns: 3 },
  );
});

test("too few rows are refused with the reason of the fit", () => {
  expect(chooseFit(measuredUnder(slowKernels, varied.slice(0, 3)), vllmProfile, options)).toMatchObject({
    outcome: "refused",
    reason: expect.stringContaining("found 3"),
  });
});
