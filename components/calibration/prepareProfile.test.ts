import { describe, expect, it } from "vitest";
import { engineProfiles } from "@/solver/hardware/builtInProfiles";
import { coefficientNames, type EngineProfile } from "@/solver/hardware/engineProfile";
import { coefficientLines, coefficientSources, coefficientText, extrapolations, reasonWords } from "./prepareProfile";

const span = { least: 1, most: 4 };
const profile: EngineProfile = {
  ...engineProfiles.vllm,
  fittedOn: {
    rows: 60,
    setAside: 0,
    weights: ["fp8"],
    models: ["llama-3.1-70b"],
    gpus: ["h200-sxm"],
    tp: span,
    inputTokens: span,
    outputTokens: span,
    concurrency: span,
    asOf: "2026-11-01",
  },
};

describe("what a profile says about a cluster it has not seen", () => {
  it("names the GPU and the models that no run was of", () => {
    const said = extrapolations(profile, { gpu: "l40s", models: ["llama-3.1-70b", "gemma-2-2b", "gemma-2-9b"], gpusPerNode: 4 });
    expect(said).toEqual([
      "No run on l40s was fitted: its times are extrapolated from h200-sxm.",
      "No run of gemma-2-2b and gemma-2-9b was fitted: their times follow from their architecture and llama-3.1-70b.",
    ]);
  });

  it("says nothing when GPU, models and parallelism were among the runs", () => {
    expect(extrapolations(profile, { gpu: "h200-sxm", models: ["llama-3.1-70b"], gpusPerNode: 4 })).toEqual([]);
    expect(extrapolations(profile, { gpu: "h200-sxm", models: [], gpusPerNode: 8 })).toEqual([
      "No run with a tensor parallelism above 4 was fitted.",
    ]);
  });

  it("owns up to not knowing when the profile does not say", () => {
    expect(extrapolations({ ...profile, fittedOn: null }, { gpu: "l40s", models: [], gpusPerNode: 1 })).toHaveLength(1);
  });
});

describe("coefficients", () => {
  it("carry the unit that suits their size", () => {
    expect(coefficientText("stepSeconds", 0.00277)).toBe("2.77 ms");
    expect(coefficientText("layerSeconds", 23.3e-6)).toBe("23.3 µs");
    expect(coefficientText("requestSecondsPerInputToken", 8.6e-10)).toBe("0.86 ns");
    expect(coefficientText("requestSeconds", 0)).toBe("0 s");
    expect(coefficientText("weightRead", 1.2)).toBe("× 1.20");
  });

  it("all stand beside those of the profile before", () => {
    const before = { ...profile, coefficients: { ...profile.coefficients, weightRead: 0.5 } };
    const lines = coefficientLines(profile, before);
    expect(lines.map(({ name }) => name)).toEqual([...coefficientNames]);
    expect(lines.find(({ name }) => name === "weightRead")?.before).toBe("× 0.500");
  });

  it("name each source once, and how well a fit knows each beside it", () => {
    const fitted = (standardError: number) => ({ kind: "fitted", source: "ours: 9 measured runs", standardError }) as const;
    const provenance = { ...profile.provenance, stepSeconds: fitted(0.03), sequenceSeconds: fitted(0.09) };
    const [step, , sequence] = coefficientLines({ ...profile, provenance }, null);
    expect([step?.source, step?.known, sequence?.source, sequence?.known]).toEqual([1, "known to 3 %", 1, "known to 9 %"]);
    expect(coefficientSources({ ...profile, provenance })[0]).toBe("ours: 9 measured runs");
  });

  it("are named in words inside of reasons", () => {
    expect(reasonWords("stepSeconds, requestSecondsPerInputToken can do it")).toBe(
      "“Scheduling and launching a step”, “Each prompt token, in the front end” can do it",
    );
  });
});
