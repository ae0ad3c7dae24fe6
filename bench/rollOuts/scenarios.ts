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

/** Each model has one engine, and they change places: there is a time without each of them. */
export const changingPlaces: Scenario = {
  name: "2 of 2 GPUs, each model's only engine",
  gpus: 2,
  from: { "qwen2.5-3b": [0], "qwen2.5-7b": [1] },
  to: { "qwen2.5-3b": [1], "qwen2.5-7b": [0] },
};
