import { type ArithmeticParts, arithmeticWorkload } from "@/server/arithmetic/arithmeticWorkload";
import { JUDGE_MODEL } from "@/server/confidenceJudge/judgePrograms";
import type { Outcome } from "@/server/contracts/studio";
import { realModelNames } from "./realNames";
import { type SetupStep, StoppedByPerson, unwrap } from "./setupStep";

/** The services that prepare a workload, as the API offers them. */
export interface QualityParts extends ArithmeticParts {
  readonly profiles: ArithmeticParts["profiles"] & { pause(id: string, actor: string): Outcome<object> };
}

/** Makes the workload of both models on the cluster. Pauses its profile when the set-up is stopped. */
export const profileQuality =
  (parts: QualityParts): SetupStep =>
  async ({ actor, signal, record, keep, say }) => {
    const { workloadId, clusterId, order } = record();
    const known = workloadId === null ? null : parts.store.workloads.summary(workloadId);
    if (known !== null) return `"${known.name}" was measured before.`;
    const onCluster = (model: string) => ({ model, at: { kind: "cluster", clusterId: clusterId ?? "" } as const });
    const asked = { models: realModelNames.map(onCluster), judge: onCluster(JUDGE_MODEL), questions: order.questions };
    const run = { actor, signal, made: record(), keep, say };
    try {
      const made = unwrap(await arithmeticWorkload(parts, { name: "Arithmetic on real models", ...asked }, run));
      keep({ workloadId: made.workloadId });
      const { prompts } = parts.store.prompts.get(record().promptSetId ?? "") ?? { prompts: order.questions };
      return `${prompts} questions were answered by both models and stored as the workload "${made.name}".`;
    } catch (problem) {
      if (signal.reason instanceof StoppedByPerson) parts.profiles.pause(record().profileId ?? "", actor);
      throw problem;
    }
  };
