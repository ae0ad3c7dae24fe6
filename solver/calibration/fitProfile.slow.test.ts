import { expect, test } from "vitest";
import { trtllmProfile, unfittedProfile, vllmProfile } from "../hardware/builtInProfiles";
import { catalogueOf, noUserCards } from "../hardware/catalogue";
import type { Coefficient, KernelProfile } from "../hardware/engineProfile";
import { mean } from "../numeric/quantile";
import { type FitProfile, fitProfile } from "./fitProfile";
import { runSimulator } from "./predictServing";
import type { ServingRow } from "./servingRow";

const cards = catalogueOf(noUserCards);

/** The measurements of a server that follows the profile exactly. */
function measuredUnder(profile: KernelProfile, runs: readonly Partial<ServingRow>[]): ServingRow[] {
  const simulate = runSimulator(profile, cards);
  return runs.map((run, index) => {
    const row: ServingRow = {
      line: index + 2,
      id: `run ${index}`,
      origin: "run",
      engine: "vllm",
      model: "llama-3.1-8b",
      gpu: "h100-sxm",
      precision: "bf16",
      kvPrecision: "bf16",
      shape: { tp: 1, pp: 1 },
      inputTokens: 1000,
      outputTokens: 100,
      concurrency: 8,
      measured: { ttftSeconds: null, tpotSeconds: null },
      ...run,
    };
    const run_ = simulate(row);
    if ("reason" in run_) throw new Error(run_.reason);
    return { ...row, measured: { ttftSeconds: run_.ttftSeconds, tpotSeconds: run_.tpotSeconds } };
  });
}

const varied = [200, 2000, 8000].flatMap((inputTokens) =>
  [2, 16].flatMap((concurrency) => [1, 4].map((tp) => ({ inputTokens, concurrency, shape: { tp, pp: 1 } }))),
);

/** For what needs neither links nor their shapes: half the simulations of a fit. */
const onOneGpu = varied.filter(({ shape }) => shape.tp === 1);

const truth: KernelProfile = {
  ...vllmProfile,
  coefficients: {
    ...vllmProfile.coefficients,
    stepSeconds: 3e-3,
    sequenceSeconds: 6e-5,
    requestSeconds: 0.08,
    compute: 0.5,
    allReduce: 0.6,
  },
};

const options = { efficiencies: true, id: "own", name: "Own", asOf: "2026-11-21", cards };

function fitted(answer: FitProfile) {
  if (answer.outcome !== "fitted") throw new Error(answer.reason);
  return answer;
}

const ratio = (fit: ReturnType<typeof fitted>, name: Coefficient): number => fit.profile.coefficients[name] / truth.coefficients[name];

test("the terms of an engine are found again in what it measured", () => {
  const fit = fitted(fitProfile(measuredUnder(truth, varied), vllmProfile, options));
  expect(fit.trainErrors.tpot.meanAbsolute).toBeLessThan(0.02);
  expect(fit.heldOutErrors?.endToEnd.meanAbsolute).toBeLessThan(0.04);
  for (const name of ["stepSeconds", "sequenceSeconds", "requestSeconds", "compute"] as const) {
    expect(ratio(fit, name), name).toBeGreaterThan(0.8);
    expect(ratio(fit, name), name).toBeLessThan(1.25);
  }
  expect(fit.profile.fittedOn).toMatchObject({ rows: varied.length, tp: { least: 1, most: 4 }, inputTokens: { least: 200, most: 8000 } });
  expect(fit.profile.provenance.stepSeconds).toEqual({
    kind: "fitted",
    source: "Own: 12 measured runs, 2026-11-21",
    standardError: expect.any(Number),
  });
});

test("the front end's work on requests and tokens is found again in sweeps that saturate it", () => {
  const busy: KernelProfile = {
    ...vllmProfile,
    coefficients: { ...vllmProfile.coefficients, requestSeconds: 0.02, requestSecondsPerOutputToken: 4e-4 },
  };
  const sweep = [1, 4, 16, 64].flatMap((concurrency) =>
    [
      [100, 8],
      [100, 64],
      [800, 32],
    ].map(([inputTokens = 0, outputTokens = 0]) => ({ concurrency, inputTokens, outputTokens })),
  );
  const fit = fitted(fitProfile(measuredUnder(busy, sweep), vllmProfile, { ...options, efficiencies: false }));
  for (const name of ["requestSeconds", "requestSecondsPerOutputToken"] as const) {
    expect(fit.profile.provenance[name].kind, name).toBe("fitted");
    expect(fit.profile.coefficients[name] / busy.coefficients[name], name).toBeGreaterThan(0.85);
    expect(fit.profile.coefficients[name] / busy.coefficients[name], name).toBeLessThan(1.15);
  }
});

test("a delay that the base has and the rows do not ask for is 0 in the fit, and its provenance does not claim the base's runs", () => {
  const rows = measuredUnder(truth, onOneGpu);
  const fit = fitted(fitProfile(rows, trtllmProfile, { ...options, efficiencies: false }));
  expect(fit.notFitted.map(({ coefficient }) => coefficient)).toContain("delaySeconds");
  expect(fit.profile.coefficients.delaySeconds).toBe(0);
  expect(fit.profile.provenance.delaySeconds.kind).toBe("extrapolated");
});

test("a sweep beyond what the engine runs at once is read with its queue inside the engine", () => {
  const quick = { ...truth, coefficients: { ...truth.coefficients, requestSeconds: 0.004 } };
  const runs = [8, 32, 64, 128].flatMap((concurrency) =>
    [100, 1000].map((inputTokens) => ({ concurrency, inputTokens, limits: { maxSequences: 32 } })),
  );
  const rows = measuredUnder(quick, runs);
  const crowded = rows.filter(({ concurrency, inputTokens }) => concurrency === 128 && inputTokens === 100);
  // If the limit is assumed to be the number of sequences in flight, even the profile that made the rows does not predict them.
  const simulate = runSimulator(quick, cards);
  for (const { limits: _, ...row } of crowded) {
    const run = simulate(row);
    expect("reason" in run ? 0 : run.ttftSeconds).toBeLessThan(0.7 * (row.measured.ttftSeconds ?? 0));
  }
  const { trainErrors } = fitted(fitProfile(rows, vllmProfile, options));
  expect(trainErrors.ttft.meanAbsolute).toBeLessThan(0.04);
  expect(trainErrors.tpot.meanAbsolute).toBeLessThan(0.04);
});

test("a fit to rows of emulated engines says so, and near lengths of an engine at work are one kind of load, which leaves none to try it on", () => {
  const runs = [2, 4, 8, 16, 24].map((concurrency, at) => ({ concurrency, inputTokens: 1000 + 10 * at, origin: "emulated" }) as const);
  const fit = fitted(fitProfile(measuredUnder(truth, runs), vllmProfile, { ...options, efficiencies: false }));
  expect(fit.profile.fittedOn?.emulated).toBe(true);
  expect(Object.values(fit.profile.provenance).map(({ source }) => source)).toContain("Own: 5 runs of emulated engines, 2026-11-21");
  expect(fit.heldOutErrors).toBeNull();
});

test("a row that is ten times off is set aside, out of the fit and out of its errors", () => {
  const rows = measuredUnder(truth, varied);
  const wrong = rows.map((row, index) =>
    index === 5 ? { ...row, measured: { ...row.measured, tpotSeconds: 10 * (row.measured.tpotSeconds ?? 0) } } : row,
  );
  const spoilt = fitted(fitProfile(wrong, vllmProfile, options));
  expect(spoilt.outliers.map((outlier) => outlier.line)).toEqual([7]);
  expect(spoilt.profile.fittedOn).toMatchObject({ rows: varied.length - 1, setAside: 1 });
  expect(spoilt.heldOutErrors?.tpot.meanAbsolute).toBeLessThan(0.1);
  const simulate = runSimulator(spoilt.profile, cards);
  const errors = rows.map((row) => {
    const run = simulate(row);
    return "reason" in run ? Number.NaN : Math.abs(run.tpotSeconds / (row.measured.tpotSeconds ?? 0) - 1);
  });
  expect(mean(errors)).toBeLessThan(0.05);
});

test("what short prompts on one GPU cannot tell is not fitted and keeps its base value, with the reason", () => {
  const short = [1, 2, 4, 8, 16].map((concurrency) => ({ inputTokens: 100, concurrency }));
  const fit = fitted(fitProfile(measuredUnder(truth, short), vllmProfile, options));
  const refused = new Map(fit.notFitted.map(({ coefficient, reason }) => [coefficient, reason]));
  expect(refused.get("prefillAttention")).toContain("long prompts");
  expect(refused.get("allReduce")).toContain("tensor parallelism");
  expect(refused.has("requestSecondsPerInputToken")).toBe(true);
  for (const name of refused.keys()) {
    expect(fit.profile.coefficients[name]).toBe(vllmProfile.coefficients[name]);
    expect(fit.profile.provenance[name]).toEqual(vllmProfile.provenance[name]);
  }
});

test("host and link terms alone leave the kernels' factors untouched", () => {
  const fit = fitted(fitProfile(measuredUnder(truth, onOneGpu), unfittedProfile, { ...options, efficiencies: false }));
  const { weightRead, compute, kvRead, prefillAttention } = fit.profile.coefficients;
  expect([weightRead, compute, kvRead, prefillAttention]).toEqual([1, 1, 1, 1]);
});

test("a host term of nothing in the base can still be found", () => {
  const base = { ...vllmProfile, coefficients: { ...vllmProfile.coefficients, requestSeconds: 0, sequenceSeconds: 0 } };
  const fit = fitted(fitProfile(measuredUnder(truth, varied), base, options));
  expect(ratio(fit, "requestSeconds")).toBeCloseTo(1, 0);
  expect(fit.profile.coefficients.sequenceSeconds).toBeGreaterThan(2e-5);
});

test("too few rows are refused with their number", () => {
  const answer = fitProfile(measuredUnder(truth, varied.slice(0, 4)), vllmProfile, options);
  expect(answer).toEqual({ outcome: "refused", reason: "A fit needs 5 different measured runs that Weir can simulate, found 4." });
});

test("rows that cannot be simulated are refused with the reason, said once", () => {
  const rows = measuredUnder(truth, varied).map((row) => ({ ...row, model: "llama-3.1-70b", shape: { tp: 1, pp: 1 } }));
  expect(fitProfile(rows, vllmProfile, options)).toEqual({
    outcome: "refused",
    reason: expect.stringMatching(/found 0\. The table, 12 rows \(lines 2, 3, 4 …\): llama-3\.1-70b .*\.$/),
  });
});

test("rows of one shape and length alone are fitted without a claim about others", () => {
  const same = [1, 2, 4, 8, 16, 32].map((concurrency) => ({ concurrency }));
  const fit = fitted(fitProfile(measuredUnder(truth, same), vllmProfile, options));
  expect(fit.heldOutErrors).toBeNull();
  expect(fit.profile.errors).toBeNull();
});

test("thirty copies of one run are one run", () => {
  const copies = measuredUnder(
    truth,
    Array.from({ length: 30 }, () => ({})),
  );
  expect(fitProfile(copies, vllmProfile, options)).toMatchObject({ outcome: "refused", reason: expect.stringContaining("found 1") });
});

test("rows that no engine on these GPUs could have measured are refused", () => {
  const rows = measuredUnder(truth, varied).map((row) => ({
    ...row,
    measured: { ttftSeconds: null, tpotSeconds: (row.measured.tpotSeconds ?? 0) / 20 },
  }));
  const answer = fitProfile(rows, vllmProfile, options);
  expect(answer).toMatchObject({ outcome: "refused", reason: expect.stringContaining("contradict the kernels") });
});

test("a fit to TPOT alone is not moved by first tokens that no engine step explains", () => {
  const late = measuredUnder(truth, varied).map((row) => ({ ...row, measured: { ...row.measured, ttftSeconds: 5 } }));
  const fit = fitted(fitProfile(late, vllmProfile, { ...options, efficiencies: false, tpotOnly: true }));
  expect(fit.trainErrors.tpot.meanAbsolute).toBeLessThan(0.05);
  expect(fit.trainErrors.ttft.meanAbsolute).toBeGreaterThan(0.5);
});
