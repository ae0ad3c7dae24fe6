import type { LabSpec } from "@/server/contracts/studio/lab";
import { engineProfiles } from "@/solver/hardware/builtInProfiles";
import { catalogueOf, noUserCards } from "@/solver/hardware/catalogue";
import { generatedWorkload } from "@/solver/workload/generated";
import type { LabHardware } from "../labEngines";
import type { LabTask } from "../labTask";
import { suggestLab } from "../suggestLab";

/** Small enough for tests: 300 generated prompts, answered by three models. */
export const testWorkload = generatedWorkload({ prompts: 300, seed: 3 });

export const testHardware: LabHardware = { catalogue: catalogueOf(noUserCards), profile: engineProfiles.vllm };

/** What is suggested for the workload, cut down to the systems named, two rates and two seeds. */
export function testSpec(names: readonly string[], workloadId = "generated"): LabSpec {
  const suggested = suggestLab({ workloadId, workload: testWorkload, replicas: null, gpu: "l40s", usdPerGpuHour: 1, ...testHardware });
  if (!suggested.ok) throw new Error(suggested.message);
  const { spec } = suggested.suggestion;
  const [first = 1, , last = 1] = spec.rates;
  return { ...spec, programs: 60, rates: [first, last], seeds: [1, 2], systems: spec.systems.filter(({ name }) => names.includes(name)) };
}

/** The task that a run of a description is. */
export const testTask = (spec: LabSpec): LabTask => ({
  ...{ spec, workload: testWorkload, userCards: noUserCards, engineProfile: testHardware.profile, artefacts: {}, texts: null },
});
