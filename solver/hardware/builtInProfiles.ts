import type { Provenance } from "@/solver/engine/replicaModel";
import type { Coefficient, EngineKind, EngineProfile } from "./engineProfile";
import { coefficientNames } from "./engineProfile";

const everywhere = (provenance: Provenance): Record<Coefficient, Provenance> =>
  Object.fromEntries(coefficientNames.map((name) => [name, provenance])) as Record<Coefficient, Provenance>;

export const vllmProfile: EngineProfile = {
  id: "vllm",
  name: "vLLM",
  engine: "vllm",
  coefficients: {
    stepSeconds: 1e-3,
    layerSeconds: 7e-6,
    sequenceSeconds: 1.4e-5,
    requestSeconds: 1.9e-2,
    requestSecondsPerInputToken: 1e-6,
    weightRead: 1.2,
    compute: 0.713,
    kvRead: 1.11,
    prefillAttention: 0.816,
    allReduce: 1.33,
  },
  provenance: everywhere({ kind: "fitted", source: "60 vLLM runs" }),
  errors: null,
  fittedOn: null,
};

export const engineProfiles: Readonly<Record<EngineKind, EngineProfile>> = { vllm: vllmProfile, sglang: vllmProfile, trtllm: vllmProfile };
