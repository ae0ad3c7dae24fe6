import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { profileInUse } from "@/server/calibration/profileInUse";
import { planWithMeasured, testMeasured } from "@/server/calibration/testing/testMeasured";
import { createCardStore } from "@/server/cards/cardStore";
import type { EngineHost, HostObservation } from "@/server/clusters/connector/engineHost";
import { openStore, type Store } from "@/server/store/store";
import type { MeasuredEngine } from "@/solver/hardware/measuredEngine";
import { measureVllm } from "./measureVllm";

let folder: string;
let store: Store;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-measure-vllm-"));
  store = openStore(folder);
});
afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true });
});

const models = ["arith-small", "arith-large"];

/** A host of two cores whose engines cannot load. */
function hostWith(engines: readonly string[] = [], heldGpus: readonly number[] = []) {
  const acts: string[] = [];
  const nodes = [{ name: "n1", gpus: 2, heldGpus: heldGpus.map((gpu) => ({ gpu, by: "is held by others" })) }];
  const value = { gpu: "cpu-core", nodes, engines: engines.map((id) => ({ id })) } as unknown as HostObservation;
  const host: EngineHost = {
    observe: async () => ({ ok: true, value }),
    async start({ id }) {
      acts.push(`start ${id}`);
      return { ok: false, message: "Its log says: no module named torch." };
    },
    async stop(id) {
      acts.push(`stop ${id}`);
      return { ok: true, value: "was gone already" };
    },
  };
  return { host, acts };
}

function measure({ host }: ReturnType<typeof hostWith>, measures = true): Promise<string> {
  const parts = { store, cards: createCardStore(folder), stateDir: folder, host, models, measures };
  return measureVllm({ ...parts, signal: new AbortController().signal, say: () => undefined });
}

const measured = (model: string, engine: string): MeasuredEngine => testMeasured({ engine, model, gpu: "cpu-core" });
const plansWith = (...engines: readonly MeasuredEngine[]): void => planWithMeasured(store, engines);

it("says what vLLM said where no engine loads, ends what it started, and leaves the profile of plans as it is", async () => {
  const at = hostWith([], [0]);
  expect(await measure(at)).toMatch(
    /^vLLM was not measured with arith-small: Its log says: no module named torch\. Predictions for it rest on/,
  );
  expect(at.acts).toEqual(["start arith-small-bf16-tp1-pp1-n1-1", "stop arith-small-bf16-tp1-pp1-n1-1"]);
  expect(profileInUse(store).id).toBe("vllm");
});

it("starts no engine while others run, while no core is free, or with `--no-measure`", async () => {
  const [busy, full, left] = [hostWith(["arith-small-0"]), hostWith([], [0, 1]), hostWith()];
  expect(await measure(busy)).toMatch(/^vLLM was not measured with arith-small: arith-small-0 runs, and the cores are not free\. /);
  expect(await measure(full)).toMatch(/: No core is free\. /);
  expect(await measure(left, false)).toMatch(/^vLLM is not measured\. .+ run `npm run real` again while none of its engines runs/);
  expect([...busy.acts, ...full.acts, ...left.acts]).toEqual([]);
});

it("measures what another engine's profile has, and only the model that vLLM was not measured with", async () => {
  plansWith(measured("arith-small", "weir-engine"), measured("arith-large", "weir-engine"), measured("arith-small", "vllm"));
  const at = hostWith();
  expect(await measure(at)).toMatch(/^vLLM was not measured with arith-large: /);
  expect(at.acts[0]).toBe("start arith-large-bf16-tp1-pp1-n1-0");
  expect(profileInUse(store).id).toBe("p");
});

it("measures nothing again, also where a profile of both models is not the one in use", async () => {
  plansWith(measured("arith-small", "vllm"), measured("arith-large", "vllm"));
  store.calibrations.use({ profileId: "vllm", at: new Date(1).toISOString(), actor: "ann" });
  const at = hostWith();
  expect(await measure(at)).toBe("vLLM was measured before.");
  expect(at.acts).toEqual([]);
});
