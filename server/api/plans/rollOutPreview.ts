import type { Answer } from "@/server/clusters/connector/connector";
import { type FileForm, generatedFiles } from "@/server/clusters/preview/generatedFiles";
import { rehearseSteps } from "@/server/clusters/preview/rehearseSteps";
import { type RollOutContext, rollOutContext } from "@/server/clusters/preview/rollOutContext";
import { rollOutDip } from "@/server/clusters/steps/rollOutDip";
import type { GeneratedFile, Outcome, RehearsedStep, RollOutDip } from "@/server/contracts/studio";
import { readConnection } from "@/server/fleet/connection";
import { type ExportFormat, exportPlan } from "@/server/fleet/exportPlan";
import type { ConnectedCluster } from "@/server/fleet/fleet";
import type { Planning } from "@/server/planning/planningService";
import { rateNow } from "@/server/planning/rateNow";
import type { Store } from "@/server/store/store";
import type { Plan } from "@/solver/plan/plan";

type Previewed = Pick<ConnectedCluster, "kind" | "connector" | "host" | "gateway" | "collector" | "timeScale">;

export interface RollOutPreviewParts {
  readonly store: Store;
  readonly clusterOf: (clusterId: string) => Previewed | null;
  readonly planning: Pick<Planning, "serve">;
  /** A plan that is saved, or was solved recently. */
  readonly planOf: (planId: string) => Plan | null;
}

/** The form of hosts' texts, by the kind of cluster. */
const forms: Readonly<Record<Previewed["kind"], FileForm>> = {
  embedded: { language: "json", ending: "json" },
  endpoints: { language: "json", ending: "json" },
  processes: { language: "shell", ending: "sh" },
  kubernetes: { language: "yaml", ending: "yaml" },
  ray: { language: "yaml", ending: "yaml" },
};

/** The effect of putting a plan into force, before its approval: the dip, the files, a rehearsal; and the plan's export. */
export function createRollOutPreview(parts: RollOutPreviewParts) {
  const { store, clusterOf, planning, planOf } = parts;

  async function lookAt(
    planId: string,
    clusterId: string,
    signal?: AbortSignal,
  ): Promise<Answer<{ readonly cluster: Previewed; readonly ground: RollOutContext }>> {
    const target = planOf(planId);
    if (target === null) return { ok: false, message: `There is no plan ${planId}.` };
    const cluster = clusterOf(clusterId);
    if (cluster === null)
      return { ok: false, message: "This cluster is only described, or cannot be reached: nothing can be put into force there." };
    const ground = await rollOutContext(cluster, target, signal);
    return ground.ok ? { ok: true, value: { cluster, ground: ground.value } } : ground;
  }

  return {
    /** The latency of requests while the roll-out runs, simulated; it stops when the signal aborts. */
    async capacityDip(planId: string, clusterId: string, signal: AbortSignal): Promise<Outcome<{ readonly dip: RollOutDip }>> {
      const looked = await lookAt(planId, clusterId, signal);
      if (!looked.ok) return looked;
      const { cluster, ground } = looked.value;
      const runningId = ground.rollOut.routing.planId;
      const running = runningId === null ? null : planOf(runningId);
      if (runningId !== null && running === null)
        return {
          ok: false,
          message: `The plan in force, ${runningId.slice(0, 8)}, is not kept here: what it sustains cannot be simulated.`,
        };
      const rate = rateNow(cluster.collector(), ground.target);
      return rollOutDip({
        ...ground,
        running,
        rate,
        applications: store.applications.list(clusterId),
        timeScale: cluster.timeScale(),
        serve: (plan, servings) => planning.serve(plan, { servings, requestsPerSecond: rate.requestsPerSecond }, signal),
      });
    },
    /** The texts that would be written for engines and gateway, with the present texts. */
    async generated(planId: string, clusterId: string): Promise<Outcome<{ readonly files: readonly GeneratedFile[] }>> {
      const looked = await lookAt(planId, clusterId);
      if (!looked.ok) return looked;
      const { cluster, ground } = looked.value;
      const files = await generatedFiles(ground, cluster.host, forms[cluster.kind]);
      return files.ok ? { ok: true, files: files.value } : files;
    },
    /** The steps of the roll-out without any write. */
    async rehearse(planId: string, clusterId: string, signal: AbortSignal): Promise<Outcome<{ readonly steps: readonly RehearsedStep[] }>> {
      const looked = await lookAt(planId, clusterId, signal);
      if (!looked.ok) return looked;
      const { host, gateway } = looked.value.cluster;
      const ways = {
        host,
        gateway,
        artefactOf: (hash: string) => store.artefacts.get(hash)?.bytes ?? null,
        encoderOf: (hash: string) => store.artefacts.get(hash)?.artefact.training.encoder ?? null,
      };
      return { ok: true, steps: await rehearseSteps(looked.value.ground, ways, signal) };
    },
    /** A plan as files for use outside of Weir; refused for a format that the cluster's connection cannot provide. */
    export(planId: string, clusterId: string, format: ExportFormat): Outcome<{ readonly name: string; readonly text: string }> {
      const plan = planOf(planId);
      if (plan === null) return { ok: false, message: `There is no plan ${planId}.` };
      const row = store.clusters.get(clusterId);
      if (row === null) return { ok: false, message: `There is no cluster ${clusterId}.` };
      if (row.connection === null)
        return {
          ok: false,
          message: `${row.spec.name} has no connection that says which images and weights its engines load: give one to \`weir export --connection\`.`,
        };
      const connection = readConnection(row.connection);
      if (!connection.ok) return connection;
      const exported = exportPlan(plan, { connection: connection.value, clusterId, format });
      return exported.ok ? { ok: true, ...exported.value } : exported;
    },
  };
}
