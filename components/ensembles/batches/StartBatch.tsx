"use client";

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useBatchAct } from "@/components/api/acts";
import { useTRPC, useTRPCClient } from "@/components/api/trpc";
import { ClusterLink } from "@/components/shell/ClusterLink";
import { Button } from "@/components/ui/Button";
import { Check } from "@/components/ui/Check";
import { ErrorLine } from "@/components/ui/ErrorLine";
import { NumberField, SelectField, TextField } from "@/components/ui/Field";
import { formatCounted } from "@/components/ui/format";
import { Modal } from "@/components/ui/Modal";
import { NumberGuard } from "@/components/ui/NumberGuard";
import type { ClusterSummary, KeptEnsemble } from "@/server/contracts/studio";
import { gpuCount } from "@/solver/plan/clusterGpus";
import type { EnsemblesView } from "../address/ensemblesCodec";
import { ensembleInView } from "../address/ensemblesCodec";
import { AssignmentsField } from "../place/AssignmentsField";
import { gpusNeeded, kOptions } from "../place/preparePlaceForm";
import { BatchPreviewPart } from "./BatchPreviewPart";
import { type BatchForm, composeBatch, usualCalls, usualName, usualWorkers } from "./composeBatch";
import { ExportBatch } from "./ExportBatch";
import { useFreeWorkers } from "./useFreeWorkers";
import { usePreview } from "./usePreview";

type Put = (change: Partial<BatchForm>) => void;

function Advanced({ form, put }: { readonly form: BatchForm; readonly put: Put }) {
  return (
    <details>
      <summary className="text-xs text-ink-3">Advanced</summary>
      <div className="mt-3 flex flex-wrap items-end gap-x-4 gap-y-3">
        <NumberField
          label="Requests in flight per session, at most"
          whole
          min={1}
          max={1024}
          value={form.concurrency}
          onChange={(concurrency) => put({ concurrency })}
        />
        <NumberField
          label="Time limit of one answer"
          unit="s"
          min={1}
          max={86_400}
          value={form.timeoutSeconds}
          onChange={(timeoutSeconds) => put({ timeoutSeconds })}
        />
        <NumberField
          label="Attempts at one answer"
          whole
          min={1}
          max={10}
          value={form.attempts}
          onChange={(attempts) => put({ attempts })}
        />
        <Check checked={form.single} onChange={(single) => put({ single })}>
          Each expert on one worker only
        </Check>
      </div>
      <div className="mt-3">
        <AssignmentsField sent={form.assignments} onSent={(assignments) => put({ assignments })} />
      </div>
    </details>
  );
}

/** Starts a batch: which questions, which ensemble, how many free GPUs; a preview is shown first. */
export function StartBatch(props: {
  readonly cluster: ClusterSummary;
  readonly ensembles: readonly KeptEnsemble[];
  /** Initial choices from the address; null: a suitable default. */
  readonly chosen: Pick<EnsemblesView, "ensemble" | "prompts" | "workers" | "perWorker" | "k">;
  readonly onClose: () => void;
  readonly onStarted: (id: string) => void;
}) {
  const { cluster, ensembles, chosen, onClose, onStarted } = props;
  const trpc = useTRPC();
  const client = useTRPCClient();
  const sets = (useQuery(trpc.prompts.list.queryOptions()).data ?? []).filter(({ deleted }) => !deleted);
  const cards = useQuery(trpc.cards.list.queryOptions()).data;
  const [typed, setTyped] = useState<Partial<BatchForm>>({});
  const named = { ensemble: ensembleInView(ensembles, chosen.ensemble), prompts: sets.find(({ id }) => id === chosen.prompts) };
  const ensemble = typed.ensemble ?? named.ensemble?.ensemble.name ?? "";
  const strayed = ensemble === "" && chosen.ensemble !== null && ensembles.length > 0;
  const { experts = [] } = ensembles.find((each) => each.ensemble.name === ensemble)?.ensemble ?? {};
  const needed = cards === undefined ? 1 : gpusNeeded(experts, cluster.spec.gpu, cards);
  const gpusPerWorker = typed.gpusPerWorker ?? chosen.perWorker ?? needed;
  const { workers: room, isEarlier } = useFreeWorkers(cluster.spec.id, gpusPerWorker);
  const free = room === null ? Math.floor(gpuCount(cluster.spec, cluster.spec.gpu) / gpusPerWorker) : room;
  const workers = typed.workers ?? chosen.workers;
  const form: BatchForm = {
    ...{
      name: "",
      maxModelsPerWorker: chosen.k,
      single: false,
      ...usualCalls,
      assignments: null,
    },
    ...{
      promptSetId: (named.prompts ?? sets[0])?.id ?? "",
      workers: workers ?? (free === undefined ? null : usualWorkers(free, experts.length)),
    },
    ...typed,
    ...{ ensemble, gpusPerWorker },
  };
  const put: Put = (change) => setTyped((old) => ({ ...old, ...change }));
  const prompts = sets.find(({ id }) => id === form.promptSetId)?.name ?? "";
  const made = composeBatch(form, { clusterId: cluster.spec.id, prompts });
  // The default number of workers is known only once the free GPUs are.
  const request = "request" in made && (workers !== null || !isEarlier) ? made.request : null;
  const { preview, error, working } = usePreview(request);
  const start = useBatchAct(client.batches.start.mutate, ({ id }) => onStarted(id));
  return (
    <Modal
      open
      onOpenChange={(next) => !next && onClose()}
      title="Start a batch"
      description={`The questions of a sample go to an ensemble on free GPUs of ${cluster.spec.name}. Engines of the plan in force are not touched.`}
    >
      <NumberGuard>
        {(sound) => (
          <form
            noValidate
            aria-label="Batch"
            className="flex flex-col gap-4"
            onSubmit={(event) => {
              event.preventDefault();
              if (request !== null && preview !== null && sound && !start.isPending) start.mutate(request);
            }}
          >
            <TextField
              label="Name"
              value={form.name}
              maxLength={80}
              placeholder={usualName(form.ensemble, prompts)}
              onChange={(name) => put({ name })}
            />
            <div className="flex flex-wrap items-end gap-x-4 gap-y-3">
              <SelectField
                className="min-w-48 flex-1"
                label="Questions"
                value={form.promptSetId}
                options={
                  sets.length === 0
                    ? [{ value: "", text: "no sample of prompts yet" }]
                    : sets.map(({ id, name, prompts }) => ({ value: id, text: `${name}, ${formatCounted(prompts, "prompt")}` }))
                }
                onChange={(promptSetId) => put({ promptSetId })}
              />
              <SelectField
                className="min-w-40 flex-1"
                label="Ensemble"
                value={form.ensemble}
                options={[
                  ...(strayed ? [{ value: "", text: "choose one" }] : []),
                  ...ensembles.map((each) => ({ value: each.ensemble.name, text: each.ensemble.name })),
                ]}
                onChange={(name) => put({ ensemble: name })}
              />
            </div>
            {strayed && (
              <p role="status" className="text-sm text-warn">
                There is no ensemble {chosen.ensemble}: it was removed or renamed. Choose another.
              </p>
            )}
            {chosen.prompts !== null && named.prompts === undefined && typed.promptSetId === undefined && sets.length > 0 && (
              <p role="status" className="text-sm text-warn">
                The questions in the address no longer exist; these are others.
              </p>
            )}
            {sets.length === 0 && (
              <p className="text-sm text-ink-2">
                <ClusterLink to="/workloads/prompts" className="font-medium text-accent underline underline-offset-2">
                  Add prompts
                </ClusterLink>{" "}
                first: a file of questions, with references where the right answers are known.
              </p>
            )}
            <div className="flex flex-wrap items-end gap-x-4 gap-y-3">
              <NumberField
                label="Workers"
                {...(room != null && { unit: `of ${room} free` })}
                whole
                min={1}
                max={256}
                value={form.workers}
                onChange={(workers) => put({ workers })}
              />
              <NumberField
                label="GPUs per worker"
                whole
                min={1}
                max={16}
                value={form.gpusPerWorker}
                onChange={(gpus) => put({ gpusPerWorker: gpus })}
              />
              <SelectField
                label="Models per worker, at most (K)"
                value={form.maxModelsPerWorker === null ? "" : String(form.maxModelsPerWorker)}
                options={kOptions}
                onChange={(k) => put({ maxModelsPerWorker: k === "" ? null : Number(k) })}
              />
            </div>
            <Advanced form={form} put={put} />
            <div className="border-t pt-3">
              {"problem" in made && sets.length > 0 && !strayed && <p className="text-sm text-ink-2">{made.problem}</p>}
              {working && (
                <p role="status" className="text-sm text-ink-3">
                  Placing experts on free GPUs …
                </p>
              )}
              {!working && <ErrorLine error={error} />}
              {preview !== null && !working && <BatchPreviewPart preview={preview} />}
            </div>
            <ErrorLine error={start.error} />
            <div className="flex flex-wrap items-center justify-end gap-2">
              <div className="mr-auto">
                <ExportBatch of={sound && request !== null ? { request } : null} />
              </div>
              <Button onClick={onClose}>Cancel</Button>
              <Button type="submit" look="primary" disabled={preview === null || working || !sound || start.isPending}>
                {start.isPending ? "Starting …" : "Start"}
              </Button>
            </div>
          </form>
        )}
      </NumberGuard>
    </Modal>
  );
}
