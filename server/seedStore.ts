import { randomUUID } from "node:crypto";
import { modelledAnswers } from "@/server/api/ensembles/modelledAnswers";
import { sampleSummary } from "@/server/api/ensembles/sampleSummary";
import type { ClusterSummary } from "@/server/contracts/studio";
import type { Store } from "@/server/store/store";
import { loadWorkload, storeWorkload } from "@/server/workloads/storedWorkloads";
import { type Ensemble, ensembleSchema } from "@/solver/ensemble/gate/ensembleDocument";
import { generatedWorkload } from "@/solver/workload/generated";

/** Enough that the planning part gives a quality bound of about a point, and the table stays below a megabyte. */
const prompts = 3_000;
const seed = 7;

/**
 * On two nodes of four L40S this is more than the largest model of the generated ladder carries well alone, so that a cascade
 * earns its place, and little enough for two CPU cores to emulate in real time (measured: 0.2 of a core for all processes; the first stage then runs at four fifths of saturation).
 */
const suggestedTraffic = { requestsPerSecond: 54, qualityFloor: 60 };

/**
 * Gives a store without workloads the generated one, so that a newcomer can plan before having a table. Returns what to plan
 * with on the embedded cluster.
 */
export function seedStore(store: Store): ClusterSummary["suggested"] {
  const known = store.workloads.list().find((workload) => workload.generated);
  if (known === undefined && store.workloads.list().length > 0) return null;
  const workloadId = known?.id ?? storeWorkload(store, generatedWorkload({ prompts, seed }));
  if (!store.ensembles.everKept()) seedEnsemble(store, workloadId);
  return { workloadId, ...suggestedTraffic };
}

/**
 * The two smaller models of the generated ladder answer, the better one first, as it has a tie; the largest is asked where they disagree. Each fits what
 * the embedded cluster has.
 */
const exampleEnsemble: Ensemble = ensembleSchema.parse({
  ...{ name: "example", experts: ["qwen2.5-7b", "qwen2.5-3b"], expertsPerQuestion: 2, aggregator: { model: "qwen2.5-32b" } },
  ...{ extraction: { kind: "choice" }, confidence: { kind: "plurality" }, tau: 1, quorum: 2, deadlineSeconds: 60 },
});

/** One ensemble to look at and a sample to choose its gate on; who removes them does not get them again. */
function seedEnsemble(store: Store, workloadId: string): void {
  const workload = loadWorkload(store, workloadId);
  if (workload === null) return;
  const { sample, ...told } = modelledAnswers(workload);
  const kept = { createdAt: new Date().toISOString(), actor: "weir" };
  store.atomically(() => {
    store.ensembles.put({ ensemble: exampleEnsemble, ...kept });
    store.answerSamples.insert({ id: randomUUID(), name: "Example, modelled", ...kept, ...told, ...sampleSummary(sample) }, sample);
  });
}
