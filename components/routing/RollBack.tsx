"use client";

import { useState } from "react";
import { useTRPCClient } from "../api/trpc";
import { useGatewayAct } from "../api/useGatewayAct";
import { Button } from "../ui/Button";
import { TextField } from "../ui/Field";
import { Modal } from "../ui/Modal";

/** Gives the gateway back the plan it ran before, its knobs as they stood, over the engines that are there. */
export function RollBack({ clusterId, etag }: { readonly clusterId: string; readonly etag: string }) {
  const client = useTRPCClient();
  const [open, setOpen] = useState(false);
  const [reason, setReason] = useState("");
  const act = useGatewayAct(
    () => client.gateway.rollBack.mutate({ clusterId, etag, reason }),
    () => setOpen(false),
  );
  return (
    <>
      <Button onClick={() => setOpen(true)}>Roll back routing</Button>
      <Modal
        open={open}
        onOpenChange={setOpen}
        title="Roll back the routing?"
        description="The gateway routes by the plan that was in force before this one again, with its knobs as they stood, at once and over the engines that run now. No engine is started or stopped: to go back to a plan with its engines, use Apply. To take back turned knobs, reset them."
      >
        <form
          className="flex flex-col gap-4"
          onSubmit={(event) => {
            event.preventDefault();
            if (!act.isPending) act.mutate(undefined);
          }}
        >
          <TextField label="Reason (optional)" value={reason} maxLength={300} onChange={setReason} />
          {act.error !== null && (
            <p role="alert" className="text-sm text-bad">
              {act.error.message}
            </p>
          )}
          <div className="flex justify-end gap-2">
            <Button onClick={() => setOpen(false)}>Keep this routing</Button>
            <Button type="submit" look="danger">
              Roll back
            </Button>
          </div>
        </form>
      </Modal>
    </>
  );
}
