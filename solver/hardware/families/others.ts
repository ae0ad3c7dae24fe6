import { aiconfigurator, dense, gqa, gqaWithBias, type ModelFigures, plain, published } from "./figures";

/** Models of other families. */
export const otherModels: readonly ModelFigures[] = [
  {
    id: "yi-1.5-9b",
    huggingFace: "01-ai/Yi-1.5-9B-Chat",
    publishedParamsB: 8.829,
    maxContextTokens: 4096,
    architecture: { ...plain, layers: 48, hidden: 4096, attention: gqa(32, 4, 128), feedForward: dense(11008), vocabulary: 64000 },
    provenance: published("config.json on Hugging Face"),
  },
  {
    id: "yi-1.5-34b",
    huggingFace: "01-ai/Yi-1.5-34B-Chat",
    publishedParamsB: 34.389,
    maxContextTokens: 4096,
    architecture: { ...plain, layers: 60, hidden: 7168, attention: gqa(56, 8, 128), feedForward: dense(20480), vocabulary: 64000 },
    provenance: published("config.json on Hugging Face"),
  },
  {
    id: "reka-edge",
    huggingFace: null,
    publishedParamsB: 7.0,
    maxContextTokens: 16384,
    architecture: { ...plain, layers: 32, hidden: 4096, attention: gqa(32, 8, 128), feedForward: dense(12288), vocabulary: 100000 },
    provenance: {
      kind: "extrapolated",
      source:
        "arXiv 2404.12387 publishes 7B parameters and a decoder with gated feed-forward, grouped-query attention and a vocabulary of 100k; layer sizes extrapolated from Llama-3-8B to that count",
    },
  },
  {
    id: "reka-flash",
    huggingFace: null,
    publishedParamsB: 21.0,
    maxContextTokens: 16384,
    architecture: { ...plain, layers: 48, hidden: 6144, attention: gqa(48, 8, 128), feedForward: dense(17536), vocabulary: 100000 },
    provenance: {
      kind: "extrapolated",
      source:
        "arXiv 2404.12387 publishes 21B parameters and a decoder with gated feed-forward, grouped-query attention and a vocabulary of 100k; layer sizes extrapolated from Llama-3 8B and 70B to that count",
    },
  },
  {
    id: "reka-core",
    huggingFace: null,
    publishedParamsB: 67.0,
    maxContextTokens: 16384,
    architecture: { ...plain, layers: 80, hidden: 8192, attention: gqa(64, 8, 128), feedForward: dense(27136), vocabulary: 100000 },
    provenance: {
      kind: "extrapolated",
      source:
        "no size published by its maker, 67B reported by its users; arXiv 2404.12387 publishes the family and a decoder with gated feed-forward, grouped-query attention and a vocabulary of 100k; layer sizes extrapolated from Llama-3-70B to that count",
    },
  },
  {
    id: "phi-4-14b",
    huggingFace: "microsoft/phi-4",
    publishedParamsB: 14.66,
    maxContextTokens: 16384,
    architecture: { ...plain, layers: 40, hidden: 5120, attention: gqa(40, 10, 128), feedForward: dense(17920), vocabulary: 100352 },
    provenance: published("pytorch/torchtune:torchtune/models/phi4/_model_builders.py"),
  },
  {
    id: "glm-4-9b",
    huggingFace: "THUDM/glm-4-9b-chat",
    publishedParamsB: 9.4,
    maxContextTokens: 131072,
    architecture: { ...plain, layers: 40, hidden: 4096, attention: gqaWithBias(32, 2, 128), feedForward: dense(13696), vocabulary: 151552 },
    provenance: published("Hugging Face config.json of THUDM/glm-4-9b-chat"),
  },
  {
    id: "gpt-oss-20b",
    huggingFace: "openai/gpt-oss-20b",
    publishedParamsB: 20.9,
    maxContextTokens: 131072,
    precision: "int4",
    quantized: "routed-experts",
    architecture: {
      ...plain,
      layers: 24,
      hidden: 2880,
      attention: gqaWithBias(64, 8, 64),
      vocabulary: 201088,
      slidingWindow: { tokens: 128, layersShare: 0.5 },
      feedForward: { kind: "moe", experts: 32, expertsPerToken: 4, expertFfn: 2880, shared: null, denseLayers: null },
    },
    provenance: aiconfigurator("openai--gpt-oss-20b"),
  },
  {
    id: "gpt-oss-120b",
    huggingFace: "openai/gpt-oss-120b",
    publishedParamsB: 116.8,
    maxContextTokens: 131072,
    precision: "int4",
    quantized: "routed-experts",
    architecture: {
      ...plain,
      layers: 36,
      hidden: 2880,
      attention: gqaWithBias(64, 8, 64),
      vocabulary: 201088,
      slidingWindow: { tokens: 128, layersShare: 0.5 },
      feedForward: { kind: "moe", experts: 128, expertsPerToken: 4, expertFfn: 2880, shared: null, denseLayers: null },
    },
    provenance: aiconfigurator("openai--gpt-oss-120b"),
  },
  {
    id: "phi-3-mini-4k",
    huggingFace: "microsoft/Phi-3-mini-4k-instruct",
    publishedParamsB: 3.8,
    maxContextTokens: 4096,
    architecture: {
      ...plain,
      layers: 32,
      hidden: 3072,
      attention: gqa(32, 32, 96),
      feedForward: dense(8192),
      vocabulary: 32064,
      slidingWindow: { tokens: 2047, layersShare: 1 },
    },
    provenance: published(
      "pytorch/torchtune:torchtune/models/phi3/_model_builders.py; window: huggingface/trl#7257, which quotes the published configuration",
    ),
  },
  {
    id: "exaone-3.5-7.8b",
    huggingFace: "LGAI-EXAONE/EXAONE-3.5-7.8B-Instruct",
    publishedParamsB: 7.8,
    maxContextTokens: 32768,
    architecture: { ...plain, layers: 32, hidden: 4096, attention: gqa(32, 8, 128), feedForward: dense(14336), vocabulary: 102400 },
    provenance: published(
      "arXiv 2412.04862 (layers, feed-forward width); EXAONE-3.0-7.8B GGUF metadata (hidden, heads). Not confirmed: KV heads and vocabulary, taken from EXAONE 3.0",
    ),
  },
];
