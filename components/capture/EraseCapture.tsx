import { useState } from "react";
import type { Capture } from "@/server/contracts/studio";
import { useGatewayAct } from "../api/acts";
import { useTRPCClient } from "../api/trpc";
import { TextField } from "../ui/Field";
import { FormModal } from "../ui/FormModal";
import { formatCounted } from "../ui/format";
import { PermittedButton } from "../ui/PermittedButton";
import { ReasonField } from "../ui/ReasonField";
import { confirmation } from "./prepareErasure";

/** Deletes everything that was captured, and ends the capture. */
export function EraseCapture({
  clusterId,
  capture,
  onDone,
}: {
  readonly clusterId: string;
  readonly capture: Capture;
  readonly onDone: () => unknown;
}) {
  const client = useTRPCClient();
  const [open, setOpen] = useState(false);
  const [typed, setTyped] = useState("");
  const [reason, setReason] = useState("");
  const erase = useGatewayAct(
    () => client.gateway.eraseCapture.mutate({ clusterId, reason }),
    () => {
      setOpen(false);
      onDone();
    },
  );
  const prompts = formatCounted(capture.files.prompts, "prompt");
  return (
    <>
      <PermittedButton saidBeside permission="capture" look="danger" onClick={() => setOpen(true)}>
        Erase
      </PermittedButton>
      <FormModal
        open={open}
        onClose={() => setOpen(false)}
        title="Erase what was captured?"
        description={`${prompts} at the gateway are deleted${capture.running === null ? "" : ", and the capture ends"}. Samples of them stay until their own texts are deleted. A file that was taken but not sampled yet stays for a day.`}
        act={erase}
        ready={typed.trim().toLowerCase() === confirmation}
        onSubmit={() => erase.mutate()}
        keep="Keep it"
        go={`Erase ${prompts}`}
        look="danger"
      >
        <TextField label={`Type ${confirmation} to confirm`} value={typed} maxLength={20} onChange={setTyped} />
        <ReasonField label="Reason (optional)" value={reason} onChange={setReason} />
      </FormModal>
    </>
  );
}
