import { aiconfigurator, dense, gqa, gqaWithBias, type ModelFigures, plain, published } from "./figures";

/** DeepSeek, what was distilled from it, and what shares its architecture. */
export const deepSeekModels: readonly ModelFigures[] = [
  {
    id: "deepseek-r1-distill-qwen-7b",
    huggingFace: "deepseek-ai/DeepSeek-R1-Distill-Qwen-7B",
    publishedParamsB: 7.616,
    maxContextTokens: 131072,
    architecture: { ...plain, layers: 28, hidden: 3584, attention: gqaWithBias(28, 4, 128), feedForward: dense(18944), vocabulary: 152064 },
    provenance: published(
      "deepseek-ai/DeepSeek-R1:README.md (base Qwen2.5-Math-7B); pytorch/torchtune:torchtune/models/qwen2_5/_model_builders.py",
    ),
  },
  {
    id: "deepseek-r1-distill-llama-70b",
    huggingFace: "deepseek-ai/DeepSeek-R1-Distill-Llama-70B",
    publishedParamsB: 70.554,
    maxContextTokens: 131072,
    architecture: { ...plain, layers: 80, hidden: 8192, attention: gqa(64, 8, 128), feedForward: dense(28672), vocabulary: 128256 },
    provenance: published(
      "deepseek-ai/DeepSeek-R1:README.md (base Llama-3.3-70B-Instruct); ai-dynamo/aiconfigurator:model_configs (Llama 70B)",
    ),
  },
  {
    id: "deepseek-v3",
    huggingFace: "deepseek-ai/DeepSeek-V3",
    publishedParamsB: 671,
    maxContextTokens: 131072,
    precision: "fp8",
    architecture: {
      ...plain,
      layers: 61,
      hidden: 7168,
      attention: { kind: "mla", heads: 128, queryRank: 1536, kvRank: 512, nopeDim: 128, ropeDim: 64, valueDim: 128 },
      vocabulary: 129280,
      feedForward: {
        kind: "moe",
        experts: 256,
        expertsPerToken: 8,
        expertFfn: 2048,
        shared: { count: 1, ffn: 2048 },
        denseLayers: { count: 3, ffn: 18432 },
      },
    },
    provenance: aiconfigurator("deepseek-ai--DeepSeek-V3"),
  },
  {
    id: "deepseek-r1",
    huggingFace: "deepseek-ai/DeepSeek-R1",
    publishedParamsB: 671,
    maxContextTokens: 131072,
    precision: "fp8",
    architecture: {
      ...plain,
      layers: 61,
      hidden: 7168,
      attention: { kind: "mla", heads: 128, queryRank: 1536, kvRank: 512, nopeDim: 128, ropeDim: 64, valueDim: 128 },
      vocabulary: 129280,
      feedForward: {
        kind: "moe",
        experts: 256,
        expertsPerToken: 8,
        expertFfn: 2048,
        shared: { count: 1, ffn: 2048 },
        denseLayers: { count: 3, ffn: 18432 },
      },
    },
    provenance: aiconfigurator("deepseek-ai--DeepSeek-R1"),
  },
  {
    id: "kimi-k2",
    huggingFace: "moonshotai/Kimi-K2-Instruct",
    publishedParamsB: null,
    maxContextTokens: 131072,
    precision: "fp8",
    architecture: {
      ...plain,
      layers: 61,
      hidden: 7168,
      attention: { kind: "mla", heads: 64, queryRank: 1536, kvRank: 512, nopeDim: 128, ropeDim: 64, valueDim: 128 },
      vocabulary: 163840,
      feedForward: {
        kind: "moe",
        experts: 384,
        expertsPerToken: 8,
        expertFfn: 2048,
        shared: { count: 1, ffn: 2048 },
        denseLayers: { count: 1, ffn: 18432 },
      },
    },
    provenance: aiconfigurator("moonshotai--Kimi-K2-Instruct"),
  },
];
