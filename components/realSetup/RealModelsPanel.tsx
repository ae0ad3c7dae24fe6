"use client";

import Link from "next/link";
import type { ClusterSummary } from "@/server/contracts/studio";
import { useAct } from "../api/acts";
import { useTRPCClient } from "../api/trpc";
import { Badge } from "../ui/Badge";
import { buttonClass } from "../ui/Button";
import { ErrorLine } from "../ui/ErrorLine";
import { Panel } from "../ui/Panel";
import { PermittedButton } from "../ui/PermittedButton";
import { RemoveButton } from "../ui/RemoveButton";
import { prepareSetup } from "./prepareSetup";
import { SetupSteps } from "./SetupSteps";
import { useRealSetup } from "./useRealSetup";

/** Half of them, on which plans are made, bound the quality to a few points. */
const QUESTIONS = 400;

/**
 * Real models on this computer: offered, set up in one click, and then the way to plan with them. On the page of a cluster it is shown
 * where that is emulated, or the one that is set up.
 */
export function RealModelsPanel({ on }: { readonly on?: Pick<ClusterSummary, "emulated" | "spec"> }) {
  const client = useTRPCClient();
  const setup = useRealSetup();
  const start = useAct(() => client.realSetup.start.mutate({ questions: QUESTIONS }));
  const stop = useAct(() => client.realSetup.stop.mutate());
  const remove = useAct(() => client.realSetup.remove.mutate());
  if (setup === null || (on !== undefined && !on.emulated && on.spec.id !== setup.clusterId)) return null;
  const { state, message } = setup;
  const { start: startText, steps, summary, planPath, takes, replaces, ready, consequences } = prepareSetup(setup);
  return (
    <Panel title="Real models on this computer" aside={<Badge>real engine, this computer</Badge>}>
      <div className="flex flex-col gap-3">
        <p className="max-w-3xl text-sm text-ink-2">
          Two small models that answer sums, one quick and often wrong, one slow and nearly always right, served by llama.cpp on this
          computer&apos;s processor. Nothing is emulated: answers, times and quality are measured here. {state === "absent" && takes}{" "}
          {replaces}
        </p>
        {state === "unsupported" && <p className="text-sm text-warn [overflow-wrap:anywhere]">{message}</p>}
        {state === "failed" && <ErrorLine error={{ message: message ?? "" }} />}
        {state === "stopped" && message !== null && <p className="text-sm text-ink-2">{message}</p>}
        {state !== "absent" && state !== "unsupported" && (
          <details open={state !== "ready"}>
            <summary className="cursor-pointer text-sm text-ink-2" aria-live="polite">
              {summary}
            </summary>
            <SetupSteps steps={steps} />
          </details>
        )}
        {ready !== "" && <p className="text-sm">{ready}</p>}
        <ErrorLine error={start.error ?? stop.error} />
        <div className="flex flex-wrap gap-2">
          {startText !== null && (
            <PermittedButton permission="attach" look="primary" disabled={start.isPending} onClick={() => start.mutate()}>
              {startText}
            </PermittedButton>
          )}
          {state === "unsupported" && (
            <PermittedButton permission="attach" look="primary" disabled>
              No engine for this computer
            </PermittedButton>
          )}
          {state === "running" && (
            <PermittedButton permission="attach" disabled={stop.isPending} onClick={() => stop.mutate()}>
              Stop
            </PermittedButton>
          )}
          {planPath !== null && (
            <Link href={planPath} className={buttonClass("primary")}>
              Plan with real models
            </Link>
          )}
          {(state === "ready" || state === "stopped" || state === "failed") && (
            <RemoveButton name="real models" kind="real models" consequences={consequences} removal={remove} permission="attach" />
          )}
        </div>
      </div>
    </Panel>
  );
}
