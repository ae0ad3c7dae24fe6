import type { Store } from "@/server/store/store";
import type { PromptService } from "./profilingServices";

/** Samples of prompts: taken of uploads, listed, and their texts deleted by hand or when their time is over. */
export function createPromptService({ store }: { readonly store: Store }): PromptService {
  const unready = { ok: false, message: "Samples cannot be taken yet." } as const;
  return {
    list: () => store.prompts.list(),
    sample: async () => unready,
    takeFromGateway: async () => unready,
    deleteTexts: () => unready,
  };
}
