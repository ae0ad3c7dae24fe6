import { createHash } from "node:crypto";
import { z } from "zod";
import type { ControlledGateway } from "@/server/api/gateway/gatewayActs";
import type { ArtefactTraining } from "@/server/contracts/gateway/artefacts";
import type { Artefact, ListedArtefact, Outcome, TrainingState, TrainRequest } from "@/server/contracts/studio";
import { reasonOf } from "@/server/lib/reasonOf";
import type { Trained } from "@/server/prediction/trainingContext";
import type { TrainingTask } from "@/server/prediction/trainingTask";
import { trainInThread } from "@/server/prediction/trainingThread";
import type { Store } from "@/server/store/store";
import type { Uploads } from "@/server/store/uploads";
import { ThreadEnded } from "@/server/threads/workerThread";
import type { WorkflowDocument } from "@/solver/plan/workflowDocument";
import { spaceRefusal } from "@/solver/workflow/configurationSpace";
import { workflows } from "@/solver/workflow/templates";
import type { Actor } from "../base/actor";
import { removalRefusal } from "./removalRefusal";

/** A gateway may have logged some ten thousand answers, and a user waits for the start of the training. */
const learningLimitMs = 30_000;

export interface ArtefactServiceParts {
  readonly store: Store;
  readonly uploads: Pick<Uploads, "file">;
  readonly clusterOf: (clusterId: string) => { readonly connector: { readonly emulated: boolean } } | null;
  /** null: the cluster is not connected. */
  readonly gatewayOf: (clusterId: string) => Pick<ControlledGateway, "admin"> | null;
}

type ForConfigurations = Extract<TrainRequest, { train: "configurations" | "executed" }>;

/** Trained predictors over the store; training runs in its own thread and continues without an open page. */
export function createArtefactService({ store, uploads, clusterOf, gatewayOf }: ArtefactServiceParts) {
  let state: TrainingState = null;
  let stop: AbortController | null = null;
  const note = store.audit.noting("predictor");

  /** The thread's input; refused if there is no data. */
  async function taskOf(request: TrainRequest): Promise<Outcome<{ readonly task: TrainingTask; readonly of: string }>> {
    if (request.train === "traffic") return trafficTask(request);
    if (request.train === "executed") return executedTask(request);
    const summary = store.workloads.summary(request.workloadId);
    if (summary === null) return { ok: false, message: "This workload is not kept any more: choose another." };
    const unknown = request.train === "lengths" && request.workflows.find((name) => !workflows.some((one) => one.name === name));
    if (typeof unknown === "string") return { ok: false, message: `There is no workflow "${unknown}".` };
    const of = `${summary.name} v${summary.version}`;
    if (request.train !== "configurations") return { ok: true, task: { file: store.file, request }, of };
    const declared = declaredFor(request);
    return declared.ok ? { ok: true, task: { file: store.file, request, workflow: declared.workflow }, of } : declared;
  }

  /** The workflow for which heads are trained; refused if it has no configurations over the models. */
  function declaredFor({ workflow: name, models }: ForConfigurations): Outcome<{ readonly workflow: WorkflowDocument }> {
    const workflow = store.declaredWorkflows.find(name)?.document;
    if (workflow === undefined) return { ok: false, message: `No workflow "${name}" is declared: declare it on the Workflows page.` };
    if (new Set(models).size < models.length) return { ok: false, message: "A model is named twice: name each once." };
    const refusal = spaceRefusal(workflow, models);
    return refusal === null ? { ok: true, workflow } : { ok: false, message: refusal };
  }

  function executedTask(request: Extract<TrainRequest, { train: "executed" }>): Awaited<ReturnType<typeof taskOf>> {
    const runs = uploads.file(request.uploadId);
    if (runs === null) return { ok: false, message: "The uploaded file is not kept any more: send it again." };
    const declared = declaredFor(request);
    return declared.ok ? { ok: true, task: { request, workflow: declared.workflow, runs }, of: `executed runs in ${runs.name}` } : declared;
  }

  async function trafficTask(request: Extract<TrainRequest, { train: "traffic" }>): ReturnType<typeof taskOf> {
    const { clusterId } = request;
    const gateway = gatewayOf(clusterId);
    if (gateway === null) return { ok: false, message: "This cluster is not connected: it has no gateway to ask." };
    const atMs = Date.now();
    const answer = await gateway.admin("/learning", { schema: z.array(z.string()), limitMs: learningLimitMs });
    if (!answer.ok) return { ok: false, message: answer.message };
    const lines = answer.value.value ?? [];
    if (lines.length === 0)
      return {
        ok: false,
        message: "This gateway remembers no requests yet: it does while the policy in force uses lengths or confidence.",
      };
    const clusterName = store.clusters.get(clusterId)?.spec.name ?? clusterId;
    const emulated = clusterOf(clusterId)?.connector.emulated === true;
    return { ok: true, task: { request, lines, atMs, clusterName, emulated }, of: `traffic of ${clusterName}` };
  }

  async function follow(task: TrainingTask, since: string, actor: string, signal: AbortSignal): Promise<void> {
    try {
      const trained = await trainInThread(task, signal, (doing) => {
        if (!signal.aborted) state = { kind: "training", since, doing };
      });
      if (!signal.aborted) ended(keep(trained, actor));
    } catch (problem) {
      if (signal.aborted) return;
      const message = reasonOf(problem);
      ended({ kind: "failed", problem: problem instanceof ThreadEnded ? `The training stopped: ${message}` : message });
    }
  }

  function ended(how: TrainingState): void {
    state = how;
    stop = null;
  }

  function keep({ bytes, scores, ...trained }: Trained, actor: string): TrainingState {
    const hash = createHash("sha256").update(bytes).digest("hex");
    const again = store.artefacts.has(hash);
    store.atomically(() => {
      if (!again) {
        store.artefacts.insert({ ...trained, hash, createdAt: new Date().toISOString(), actor }, bytes);
        note(actor, "train predictor", { subject: hash, objectId: hash }, told(store.artefacts.get(hash)?.artefact));
      }
      // Also of one that is kept: earlier versions kept no scores.
      if (scores !== undefined) store.artefacts.keepScores(hash, scores);
    });
    return { kind: "trained", hash, again };
  }

  return {
    /** Newest first. */
    list(): readonly ListedArtefact[] {
      const naming = store.plans.withPredictors();
      const inForce = new Set(store.clusters.list().map(({ runningPlanId }) => runningPlanId));
      return store.artefacts.list().map((artefact) => ({
        ...artefact,
        plans: naming
          .filter(({ predictors }) => predictors.includes(artefact.hash))
          .map(({ id, name, clusterId }) => ({ id, name, clusterId, inForce: inForce.has(id) })),
      }));
    },
    state: (): TrainingState => state,
    /** Trains in a worker thread; resolves once it runs. Only one training at a time. */
    async train(request: TrainRequest, actor: Actor): Promise<Outcome<object>> {
      if (stop !== null) return { ok: false, message: "A predictor is being trained: wait for it, or cancel it." };
      const own = new AbortController();
      stop = own;
      const asked = await taskOf(request).catch((problem: unknown): Outcome<never> => {
        return { ok: false, message: `Nothing was trained: ${reasonOf(problem)}.` };
      });
      if (!asked.ok || own.signal.aborted) {
        if (stop === own) stop = null;
        return asked.ok ? { ok: false, message: "The training was cancelled." } : asked;
      }
      const since = new Date().toISOString();
      state = { kind: "training", since, doing: `Starting on ${asked.of}` };
      void follow(asked.task, since, actor, own.signal);
      return { ok: true };
    },
    cancel(_actor: Actor): Outcome<object> {
      stop?.abort();
      stop = null;
      state = null;
      return { ok: true };
    },
    /** Refused while a plan in force names it. */
    remove(hash: string, actor: Actor): Outcome<object> {
      const kept = store.artefacts.get(hash)?.artefact;
      if (kept === undefined) return { ok: false, message: "This predictor is not kept any more." };
      const refusal = removalRefusal(store, hash);
      if (refusal !== null) return { ok: false, message: refusal };
      return store.atomically((): Outcome<object> => {
        store.artefacts.remove(hash);
        note(actor, "remove predictor", { subject: hash, objectId: hash }, told(kept));
        return { ok: true };
      });
    },
    close: () => stop?.abort(),
  };
}

const ofSource: { readonly [source in ArtefactTraining["source"]]?: string } = {
  traffic: "traffic of ",
  "executed runs": "executed runs in ",
};

/** A description of an artefact, for the audit. */
function told(artefact: Artefact | undefined): string {
  if (artefact === undefined) return "";
  const { kind, version, training } = artefact;
  return `${kind} v${version}${training.workflow === undefined ? "" : ` of ${training.workflow.name}`} of ${ofSource[training.source] ?? ""}${training.workloadName}`;
}
