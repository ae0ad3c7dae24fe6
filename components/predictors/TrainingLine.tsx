"use client";

import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect, useRef } from "react";
import { usePredictorAct } from "../api/acts";
import { useTRPC, useTRPCClient } from "../api/trpc";
import { Button } from "../ui/Button";
import { shortHash } from "../ui/format";

/** Polling interval of a running training; another page may start one meanwhile. */
const ASK_AGAIN_MS = { training: 700, still: 10_000 } as const;

/** The trainer's progress and a button that stops it, or its result and a button that starts another. */
export function TrainingLine({ onTrained, children }: { readonly onTrained: () => void; readonly children: ReactNode }) {
  const client = useTRPCClient();
  const state = useQuery(
    useTRPC().artefacts.state.queryOptions(undefined, {
      staleTime: 0,
      refetchInterval: (query) => ASK_AGAIN_MS[query.state.data?.kind === "training" ? "training" : "still"],
    }),
  ).data;
  const cancel = usePredictorAct(() => client.artefacts.cancel.mutate());
  const trained = state?.kind === "trained" ? state.hash : null;
  const before = useRef(trained);
  useEffect(() => {
    if (trained !== null && trained !== before.current) onTrained();
    before.current = trained;
  }, [trained, onTrained]);
  if (state?.kind === "training")
    return (
      <div className="flex flex-wrap items-center gap-3">
        <Button disabled={cancel.isPending} onClick={() => cancel.mutate()}>
          Cancel
        </Button>
        <span aria-hidden="true" className="h-1 w-24 overflow-hidden rounded bg-line">
          <span className="block h-full w-1/3 motion-safe:animate-pulse rounded bg-accent" />
        </span>
        <p role="status" className="min-w-0 text-sm text-ink-2">
          {state.doing} … It continues when you leave this page.
        </p>
      </div>
    );
  return (
    <div className="flex flex-wrap items-center gap-3">
      {children}
      {state?.kind === "failed" && (
        <p role="alert" className="min-w-0 flex-1 basis-60 text-sm text-bad [overflow-wrap:anywhere]">
          {state.problem}
        </p>
      )}
      {state?.kind === "trained" && (
        <p role="status" className="min-w-0 flex-1 basis-60 text-sm text-ink-2">
          {state.again
            ? `The result is ${shortHash(state.hash)}, which already exists: the same training gives the same predictor.`
            : `Trained: ${shortHash(state.hash)}.`}
        </p>
      )}
    </div>
  );
}
