import { expect } from "vitest";
import type { Answer } from "@/server/clusters/connector/connector";
import { engineId } from "@/server/clusters/steps/targetEngines";
import type { EngineOrder } from "@/server/contracts/engine/engineOrder";
import type { KubernetesConnectionInput } from "../connection";
import { createKubernetesHost, type KubernetesHostDeps } from "../kubernetesHost";
import type { TestKubernetes } from "./testKubernetes";

/** Common operations of host tests on the cluster that `of` returns. */
export function hostTools(of: () => TestKubernetes) {
  const host = (change: Partial<KubernetesConnectionInput> = {}, deps: Partial<KubernetesHostDeps> = {}) =>
    createKubernetesHost(of().connection(change), { clusterId: "lab", awayMs: 1_000, placeMs: 15_000, everyMs: 50, ...deps });
  const order = (gpus: readonly number[], node: string = of().nodes[0], model = "qwen2.5-3b"): EngineOrder => {
    const placements = [{ node, gpus: [...gpus] }];
    const shape = { tp: gpus.length, pp: 1 };
    return { id: engineId({ model, precision: "bf16" }, shape, placements), model, precision: "bf16", gpu: "l40s", ...shape, placements };
  };
  const told: string[] = [];
  const options = () => ({ signal: new AbortController().signal, report: (detail: string) => void told.push(detail) });
  const sentence = (answer: Answer<unknown>): string => {
    if (answer.ok) return `It went well: ${JSON.stringify(answer.value)}`;
    expect(answer.message).toMatch(/^[A-Z"a-z].*\.$/s);
    expect(answer.message).not.toMatch(/\n\s+at /);
    return answer.message;
  };
  const observed = async (one = host()) => {
    const answer = await one.observe({});
    if (!answer.ok) throw new Error(answer.message);
    return answer.value;
  };

  /** Runs a step that must fail, and checks that it left the cluster unchanged. */
  async function failing(step: () => Promise<Answer<string>>): Promise<string> {
    const before = await of().state();
    const message = sentence(await step());
    await expect.poll(() => of().state(), { timeout: 20_000 }).toEqual(before);
    return message;
  }

  return { host, order, told, options, sentence, observed, failing };
}
