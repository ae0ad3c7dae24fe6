import type { Scenario } from "./rollOutRun";

/** No GPU is spare: old engines drain before new ones are up. */
export const noneSpare: Scenario = {
  name: "4 of 8 GPUs, none spare",
  gpus: 8,
  from: { "qwen2.5-3b": [0, 1, 2, 3], "qwen2.5-7b": [4, 5, 6, 7] },
  to: { "qwen2.5-3b": [2, 3, 4, 5], "qwen2.5-7b": [0, 1, 6, 7] },
};

/** New engines come up before old ones drain. */
export const fourSpare: Scenario = {
  name: "4 of 12 GPUs, 4 spare",
  gpus: 12,
  from: { "qwen2.5-3b": [0, 1, 2, 3], "qwen2.5-7b": [4, 5, 6, 7] },
  to: { "qwen2.5-3b": [0, 1, 8, 9], "qwen2.5-7b": [4, 5, 10, 11] },
};

/** One engine gives way to one of another model: for a time there is none at all, and every request waits. */
export const onlyEngine: Scenario = {
  name: "the only GPU",
  gpus: 1,
  from: { "qwen2.5-3b": [0] },
  to: { "qwen2.5-7b": [0] },
};
