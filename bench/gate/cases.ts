/** Experts whose answers are gated, and the model whose own answers stand in for the aggregator's. */
export interface GateCase {
  readonly task: "gsm" | "crux";
  /** What is special about them. */
  readonly kind: string;
  readonly experts: readonly [string, string, string];
  readonly aggregator: string;
}

/** Chosen by families, sizes and accuracies, not by what they give. */
export const gateCases: readonly GateCase[] = [
  {
    task: "gsm",
    kind: "like sizes",
    experts: ["gemma-2-9b-it", "Meta-Llama-3.1-8B-Instruct", "Qwen2-7B-Instruct"],
    aggregator: "Meta-Llama-3.1-70B-Instruct",
  },
  {
    task: "gsm",
    kind: "one strong",
    experts: ["Qwen2-72B-Instruct", "Yi-1.5-9B-Chat", "gemma-2-2b-it"],
    aggregator: "Meta-Llama-3.1-70B-Instruct",
  },
  {
    task: "gsm",
    kind: "all strong",
    experts: ["Mistral-Large-2", "Meta-Llama-3-70B-Instruct", "Qwen2-72B-Instruct"],
    aggregator: "Meta-Llama-3.1-70B-Instruct",
  },
  { task: "gsm", kind: "all small", experts: ["Phi-3.5-mini-instruct", "Qwen2-7B-Instruct", "gemma-2-2b-it"], aggregator: "gemma-2-9b-it" },
  {
    task: "gsm",
    kind: "weaker aggregator",
    experts: ["gemma-2-27b-it", "Meta-Llama-3-70B-Instruct", "Qwen2-72B-Instruct"],
    aggregator: "Meta-Llama-3.1-8B-Instruct",
  },
  {
    task: "crux",
    kind: "like sizes",
    experts: ["gemma-2-9b-it", "Qwen2.5-7B-Instruct", "Yi-1.5-9B-Chat"],
    aggregator: "Qwen2.5-72B-Instruct",
  },
  {
    task: "crux",
    kind: "one strong",
    experts: ["Meta-Llama-3.1-70B-Instruct", "Meta-Llama-3-8B-Instruct", "gemma-2-2b-it"],
    aggregator: "Qwen2.5-72B-Instruct",
  },
  {
    task: "crux",
    kind: "all strong",
    experts: ["Mistral-Large-2", "Llama-3.1-405B-Inst-fp8@together", "Qwen2.5-32B-Instruct"],
    aggregator: "gpt-4o-2024-08-06",
  },
  {
    task: "crux",
    kind: "all small",
    experts: ["Phi-3.5-mini-instruct", "Qwen2.5-3B-Instruct", "gemma-2-2b-it"],
    aggregator: "Qwen2.5-7B-Instruct",
  },
  {
    task: "crux",
    kind: "weaker aggregator",
    experts: ["Mistral-Large-2", "Qwen2.5-72B-Instruct", "deepseek-v2-chat-0628"],
    aggregator: "gemma-2-27b-it",
  },
];
