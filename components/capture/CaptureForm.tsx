import { useState } from "react";
import type { Capture } from "@/server/contracts/studio";
import { useGatewayAct } from "../api/acts";
import { useTRPCClient } from "../api/trpc";
import { Button } from "../ui/Button";
import { Check } from "../ui/Check";
import { ErrorLine } from "../ui/ErrorLine";
import { NumberField } from "../ui/Field";
import { ReasonField } from "../ui/ReasonField";
import { type CaptureDraft, firstDraft, prepareCapture } from "./prepareCapture";
import { RedactionFields } from "./RedactionFields";

/** Begins a capture: of which keys, which share, with what redaction and for how long. No key is selected at first. */
export function CaptureForm({
  clusterId,
  keyNames,
  onDone,
}: {
  readonly clusterId: string;
  readonly keyNames: Capture["keyNames"];
  readonly onDone: () => void;
}) {
  const client = useTRPCClient();
  const [draft, setDraft] = useState<CaptureDraft>(firstDraft);
  const prepared = prepareCapture(draft, keyNames);
  const start = useGatewayAct(
    (order: Parameters<typeof client.gateway.startCapture.mutate>[0]) => client.gateway.startCapture.mutate(order),
    onDone,
  );
  const choose = (key: string, chosen: boolean): void =>
    setDraft({ ...draft, keys: chosen ? [...draft.keys, key] : draft.keys.filter((one) => one !== key) });
  return (
    <form
      noValidate
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if ("order" in prepared && !start.isPending) start.mutate({ clusterId, ...prepared.order });
      }}
    >
      <fieldset className="flex min-w-0 flex-col gap-1">
        <legend className="mb-1 text-sm font-medium">Whose prompts may be kept</legend>
        <div className="flex flex-wrap gap-x-5">
          {(keyNames ?? ["*"]).map((key) => (
            <Check key={key} checked={draft.keys.includes(key)} onChange={(chosen) => choose(key, chosen)}>
              {keyNames === null ? "of everybody: this gateway has no API keys" : key}
            </Check>
          ))}
        </div>
      </fieldset>
      <div className="flex flex-wrap items-end gap-x-4 gap-y-3">
        <NumberField
          label="Share of their chat requests"
          unit="%"
          min={0.1}
          max={100}
          step={0.1}
          value={draft.percent}
          onChange={(percent) => setDraft({ ...draft, percent })}
        />
        <NumberField
          label="Deleted after"
          unit="days"
          min={1}
          max={365}
          whole
          value={draft.retentionDays}
          onChange={(retentionDays) => setDraft({ ...draft, retentionDays })}
        />
        <NumberField
          label="At most"
          unit="MB"
          min={1}
          max={10_240}
          value={draft.mostMegabytes}
          onChange={(mostMegabytes) => setDraft({ ...draft, mostMegabytes })}
        />
        <ReasonField
          className="min-w-40 flex-1"
          label="Reason for the capture (optional)"
          value={draft.reason}
          onChange={(reason) => setDraft({ ...draft, reason })}
        />
      </div>
      <RedactionFields draft={draft} onDraft={setDraft} />
      <ErrorLine error={start.error} />
      <div className="flex flex-wrap items-center gap-3">
        <Button type="submit" look="primary" disabled={"missing" in prepared || start.isPending}>
          {start.isPending ? "Trying the rules …" : "Start capture"}
        </Button>
        {"missing" in prepared && <p className="text-sm text-ink-3">{prepared.missing}</p>}
      </div>
    </form>
  );
}
