import { useState } from "react";
import type { Capture } from "@/server/contracts/studio";
import { useTRPCClient } from "../api/trpc";
import { useGatewayAct } from "../api/useGatewayAct";
import { Button } from "../ui/Button";
import { ErrorLine } from "../ui/ErrorLine";
import { TextField } from "../ui/Field";
import { formatCounted } from "../ui/format";
import { Modal } from "../ui/Modal";
import { ReasonField } from "../ui/ReasonField";

/** Typed to confirm: what is erased cannot be brought back. */
const confirmation = "erase";

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
  const ready = typed.trim().toLowerCase() === confirmation;
  const prompts = formatCounted(capture.files.prompts, "prompt");
  return (
    <>
      <Button look="danger" onClick={() => setOpen(true)}>
        Erase
      </Button>
      <Modal
        open={open}
        onOpenChange={setOpen}
        title="Erase what was captured?"
        description={`${prompts} at the gateway are deleted${capture.running === null ? "" : ", and the capture ends"}. Samples of them stay until their own texts are deleted. A file that was taken but not sampled yet stays for a day.`}
      >
        <form
          className="flex flex-col gap-3"
          onSubmit={(event) => {
            event.preventDefault();
            if (ready && !erase.isPending) erase.mutate(undefined);
          }}
        >
          <TextField label={`Type ${confirmation} to confirm`} value={typed} maxLength={20} onChange={setTyped} />
          <ReasonField label="Reason (optional)" value={reason} onChange={setReason} />
          <ErrorLine error={erase.error} />
          <div className="flex justify-end gap-2">
            <Button onClick={() => setOpen(false)}>Keep it</Button>
            <Button type="submit" look="danger" disabled={!ready || erase.isPending}>
              Erase {prompts}
            </Button>
          </div>
        </form>
      </Modal>
    </>
  );
}
