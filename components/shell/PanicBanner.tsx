"use client";

import { useLayoutEffect, useRef } from "react";
import type { Panic } from "@/server/contracts/studio";
import { useTRPCClient } from "../api/trpc";
import { formatAge, formatDate } from "../ui/format";
import { ReasonDialog } from "../ui/ReasonDialog";
import { useNow } from "../ui/useNow";
import { useCurrentCluster } from "./useCurrentCluster";

/** Moves the keyboard's focus to the page when the focused banner disappears. */
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

function ClearPanic({ clusterId, panic }: { readonly clusterId: string; readonly panic: Panic }) {
  const client = useTRPCClient();
  return (
    <ReasonDialog
      button="Clear panic"
      title="Clear the panic?"
      description={`The policy in force routes requests again. Requests waiting for ${panic.model} restart under it; answers in progress finish.`}
      keep="Stay in panic"
      go="Clear"
      look="primary"
      act={(reason) => client.gateway.clearPanic.mutate({ clusterId, reason })}
    />
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
        <strong className="font-semibold">Panic: every text request goes to {panic.model}</strong>
        {panic.reason === "" ? "" : `. Why: ${panic.reason}`}. By {panic.by}, since {formatDate(new Date(panic.sinceMs).toISOString())}
        {nowMs !== null && <span aria-hidden="true"> ({formatAge(Math.max(0, nowMs - panic.sinceMs) / 1000)})</span>}.
        {panic.warning !== undefined && ` ${panic.warning}`}
      </p>
      <ClearPanic clusterId={clusterId} panic={panic} />
    </div>
  );
}

/** Shows on every page that the gateway is in panic: since when, by whom, why, and the button that clears it. */
export function PanicBanner() {
  const cluster = useCurrentCluster();
  if (cluster === null || cluster.panic === null) return null;
  return <Banner clusterId={cluster.spec.id} panic={cluster.panic} />;
}
