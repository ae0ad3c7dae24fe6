import { useState } from "react";
import type { PromptsOfGateway } from "@/server/contracts/studio";
import { useAct } from "../api/acts";
import { useTRPCClient } from "../api/trpc";
import { CapturePanel } from "../capture/CapturePanel";
import { useClusters, useCurrentCluster } from "../shell/useCurrentCluster";
import { Button } from "../ui/Button";
import { ErrorLine } from "../ui/ErrorLine";
import { SelectField } from "../ui/Field";
import type { PromptUpload } from "./uploadPrompts";

const sources: readonly { readonly value: PromptsOfGateway["from"]; readonly text: string }[] = [
  { value: "captured", text: "captured traffic" },
  { value: "records", text: "decision records that keep prompts" },
];

const wordsOf = (from: PromptsOfGateway["from"]): string => sources.find(({ value }) => value === from)?.text ?? from;

/** Prompts captured from a gateway's traffic, and the control that starts a capture. */
export function GatewayPrompts({ onUpload }: { readonly onUpload: (upload: PromptUpload) => void }) {
  const client = useTRPCClient();
  const current = useCurrentCluster();
  const { data } = useClusters();
  const clusters = (data ?? []).filter(({ gatewayUrl }) => gatewayUrl !== null);
  const [chosen, setChosen] = useState<string | null>(null);
  const [from, setFrom] = useState<PromptsOfGateway["from"]>("captured");
  const cluster = clusters.find(({ spec }) => spec.id === (chosen ?? current?.spec.id)) ?? clusters[0] ?? null;
  const take = useAct(client.prompts.takeFromGateway.mutate, ({ uploadId, survey, retentionDays }, request) =>
    onUpload({
      uploadId,
      survey,
      from: `${cluster?.spec.name ?? request.clusterId}, ${wordsOf(request.from)}`,
      traffic: { retentionDays },
    }),
  );
  if (data === undefined) return null;
  if (cluster === null)
    return <p className="text-sm text-ink-3">No cluster with a gateway is connected: attach your engines on Clusters, or upload a file.</p>;
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap items-end gap-x-4 gap-y-3">
        <SelectField
          label="Gateway of"
          value={cluster.spec.id}
          options={clusters.map(({ spec }) => ({ value: spec.id, text: spec.name }))}
          onChange={setChosen}
        />
        <SelectField label="Take prompts from" value={from} options={sources} onChange={setFrom} />
        <Button look="primary" disabled={take.isPending} onClick={() => take.mutate({ clusterId: cluster.spec.id, from })}>
          Take prompts
        </Button>
        {take.isPending && (
          <p role="status" className="flex min-h-8 items-center text-sm text-ink-2">
            Reading stored measurements …
          </p>
        )}
      </div>
      <ErrorLine error={take.error} />
      {from === "captured" && <CapturePanel key={cluster.spec.id} clusterId={cluster.spec.id} />}
    </div>
  );
}
