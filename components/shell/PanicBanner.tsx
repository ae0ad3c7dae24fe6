"use client";

import { useLayoutEffect, useRef, useState } from "react";
import type { Panic } from "@/server/contracts/studio";
import { useTRPCClient } from "../api/trpc";
import { useGatewayAct } from "../api/useGatewayAct";
import { Button } from "../ui/Button";
import { TextField } from "../ui/Field";
import { formatAge, formatDate } from "../ui/format";
import { Modal } from "../ui/Modal";
import { useNow } from "../ui/useNow";
import { useCurrentCluster } from "./useCurrentCluster";

/** Gives the keyboard's focus to the page when the banner that holds it goes away. */
function useFocusLeft() {
  const banner = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = banner.current;
    return () => {
      if (element?.contains(document.activeElement)) document.getElementById("main")?.focus();
    };
  }, []);
  return banner;
}

function Lift({ clusterId, panic }: { readonly clusterId: string; readonly panic: Panic }) {
  const client = useTRPCClient();
  const [open, setOpen] = useState(false);
  const [reason, setReason] = useState("");
  const act = useGatewayAct(
    () => client.gateway.liftPanic.mutate({ clusterId, reason }),
    () => setOpen(false),
  );
  return (
    <>
      <Button onClick={() => setOpen(true)}>Lift panic</Button>
      <Modal
        open={open}
        onOpenChange={setOpen}
        title="Lift the panic?"
        description={`Requests go by the policy in force again. Those that wait for ${panic.model} begin anew under it; what is being answered is finished.`}
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
            <Button onClick={() => setOpen(false)}>Stay in panic</Button>
            <Button type="submit" look="primary">
              Lift
            </Button>
          </div>
        </form>
      </Modal>
    </>
  );
}

function Banner({ clusterId, panic }: { readonly clusterId: string; readonly panic: Panic }) {
  const nowMs = useNow(1000);
  const banner = useFocusLeft();
  return (
    <div
      ref={banner}
      role="alert"
      data-testid="panic"
      className="flex flex-wrap items-center gap-x-4 gap-y-2 border-b border-bad bg-bad-soft px-4 py-2 text-sm text-bad"
    >
      <p className="min-w-0 flex-1 [overflow-wrap:anywhere]">
        <strong className="font-semibold">Panic: every request for text goes to {panic.model}</strong>
        {panic.reason === "" ? "" : `. Why: ${panic.reason}`}. By {panic.by}, since {formatDate(new Date(panic.sinceMs).toISOString())}
        {nowMs !== null && <span aria-hidden="true"> ({formatAge(Math.max(0, nowMs - panic.sinceMs) / 1000)})</span>}.
      </p>
      <Lift clusterId={clusterId} panic={panic} />
    </div>
  );
}

/** Says on every page that the gateway is in panic: since when, by whom, why, and the way back. */
export function PanicBanner() {
  const cluster = useCurrentCluster();
  if (cluster === null || cluster.panic === null) return null;
  return <Banner clusterId={cluster.spec.id} panic={cluster.panic} />;
}
