import type { Addon } from "./addon";
import realEngineLock from "./realEngineLock.json";

const llamaVersion = "3.22.1";

/**
 * llama.cpp as a prebuilt library for Node. Its packages for CUDA and Vulkan are ten times as large and are never installed; the one for
 * Apple silicon uses Metal.
 */
const realEngine: Addon = {
  name: "real-engine",
  title: "Real engine (llama.cpp)",
  description: "Runs models in GGUF files on this computer's processor, through node-llama-cpp (MIT).",
  packages: { "node-llama-cpp": llamaVersion },
  platformPackages: {
    version: llamaVersion,
    names: {
      "linux-x64": "@node-llama-cpp/linux-x64",
      "linux-arm64": "@node-llama-cpp/linux-arm64",
      "linux-arm": "@node-llama-cpp/linux-armv7l",
      "linux-riscv64": "@node-llama-cpp/linux-riscv64",
      "darwin-arm64": "@node-llama-cpp/mac-arm64-metal",
      "darwin-x64": "@node-llama-cpp/mac-x64",
      "win32-x64": "@node-llama-cpp/win-x64",
      "win32-arm64": "@node-llama-cpp/win-arm64",
    },
  },
  // From `npm install --package-lock-only`, without addresses and without optional packages, which are for CUDA and Vulkan.
  lock: realEngineLock,
  bytes: 85_000_000,
};

/** Everything that `weir add` installs. */
export const addons: readonly Addon[] = [realEngine];
