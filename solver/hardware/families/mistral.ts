import { aiconfigurator, dense, gqa, type ModelFigures, plain, published } from "./figures";

/** Mistral. */
export const mistralModels: readonly ModelFigures[] = [
  {
    id: "ministral-8b",
    huggingFace: "mistralai/Ministral-8B-Instruct-2410",
    publishedParamsB: 8.02,
    maxContextTokens: 131072,
    architecture: { ...plain, layers: 36, hidden: 4096, attention: gqa(32, 8, 128), feedForward: dense(12288), vocabulary: 131072 },
    provenance: published(
      "Hugging Face card of Ministral-8B-Instruct-2410, read in the QuantFactory copy. Interleaved sliding window 32k.",
    ),
  },
  {
    id: "mistral-7b",
    huggingFace: "mistralai/Mistral-7B-v0.1",
    publishedParamsB: 7.24,
    maxContextTokens: 32768,
    architecture: {
      ...plain,
      layers: 32,
      hidden: 4096,
      attention: gqa(32, 8, 128),
      feedForward: dense(14336),
      vocabulary: 32000,
    },
    provenance: published(
      "pytorch/torchtune:torchtune/models/mistral/_model_builders.py; the window of its first version is not stated there and left out",
    ),
  },
  {
    id: "mixtral-8x7b",
    huggingFace: "mistralai/Mixtral-8x7B-v0.1",
    publishedParamsB: 46.7,
    maxContextTokens: 32768,
    architecture: {
      ...plain,
      layers: 32,
      hidden: 4096,
      attention: gqa(32, 8, 128),
      vocabulary: 32000,
      feedForward: { kind: "moe", experts: 8, expertsPerToken: 2, expertFfn: 14336, shared: null, denseLayers: null },
    },
    provenance: aiconfigurator("mistralai--Mixtral-8x7B-v0.1"),
  },
  {
    id: "mixtral-8x22b",
    huggingFace: "mistralai/Mixtral-8x22B-v0.1",
    publishedParamsB: 141,
    maxContextTokens: 65536,
    architecture: {
      ...plain,
      layers: 56,
      hidden: 6144,
      attention: gqa(48, 8, 128),
      vocabulary: 32000,
      feedForward: { kind: "moe", experts: 8, expertsPerToken: 2, expertFfn: 16384, shared: null, denseLayers: null },
    },
    provenance: aiconfigurator("mistralai--Mixtral-8x22B-v0.1"),
  },
  {
    id: "minimax-m2.5",
    huggingFace: "MiniMaxAI/MiniMax-M2.5",
    publishedParamsB: null,
    maxContextTokens: 196608,
    precision: "fp8",
    architecture: {
      ...plain,
      layers: 62,
      hidden: 3072,
      attention: gqa(48, 8, 128),
      vocabulary: 200064,
      feedForward: { kind: "moe", experts: 256, expertsPerToken: 8, expertFfn: 1536, shared: null, denseLayers: null },
    },
    provenance: aiconfigurator("MiniMaxAI--MiniMax-M2.5"),
  },
];
