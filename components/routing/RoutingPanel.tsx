"use client";

import { useMemo } from "react";
import type { LiveFrame } from "@/server/contracts/studio";
import type { Plan } from "@/solver/plan/plan";
import { cascadeOf, modelsOf } from "@/solver/plan/policySchema";
import { ClusterLink } from "../shell/ClusterLink";
import { Badge } from "../ui/Badge";
import { shortHash } from "../ui/format";
import { ModelName } from "../ui/ModelChip";
import { Panel } from "../ui/Panel";
import { PanelState, type PanelStatus } from "../ui/PanelState";
import { useModelIdentities } from "../ui/useModelIdentities";
import { CanarySection } from "./CanarySection";
import { GraceSection } from "./GraceSection";
import { KnobSection } from "./KnobSection";
import { MirrorSection } from "./MirrorSection";
import { rateToPlan } from "./newPlanPath";
import { OrderSection } from "./OrderSection";
import { isTurned } from "./prepareKnobs";
import { RollBack } from "./RollBack";
import { ShadowSection } from "./ShadowSection";
import { StrictSection } from "./StrictSection";
import { singlesText } from "./singlesText";

function statusOf({ state, reason, routing }: LiveFrame["gateway"]): PanelStatus {
  if (routing === null) {
    if (state === "unreachable") return { kind: "error", message: `The gateway does not answer: ${reason}.`, retry: null };
    return { kind: "empty", title: "Nothing is routed", text: "No plan is in force, so there is no policy to control." };
  }
  if (state !== "fresh")
    return { kind: "stale", note: `${reason}. This is the gateway's last report; the gateway keeps its settings after a restart.` };
  if (routing.controls === null) {
    return { kind: "partial", note: "this gateway's version has no canary, shadow, mirror or controls." };
  }
  return { kind: "ready" };
}

/** The policy in force, and the operator's controls of live traffic that need no other plan. Collapsed while none of them runs. */
export function RoutingPanel(props: {
  readonly frame: LiveFrame;
  readonly plan: Plan | null;
  /** Whether a plan is being applied: until it is done only a panic can change the routing. */
  readonly applying: boolean;
}) {
  const { frame, plan, applying } = props;
  const { clusterId } = frame;
  const { routing } = frame.gateway;
  const controls = routing?.controls ?? null;
  const canary = controls?.canary ?? null;
  const canaryOf = canary?.state === "running" ? canary.candidate.planId : null;
  const models = routing === null ? [] : modelsOf(routing.policy);
  const isOneOf = routing !== null && routing.policy.kind !== "cascade";
  const singles = routing === null ? null : singlesText(routing.policy);
  const inForce = plan?.id === routing?.planId ? plan : null;
  const identities = useModelIdentities(models);
  const names = [...new Set(frame.engines.filter(({ health }) => health !== "draining").map(({ model }) => model))].join(" ");
  const served = useMemo(() => (names === "" ? [] : names.split(" ")), [names]);
  return (
    <Panel title="Routing">
      <div data-testid="routing">
        <PanelState status={statusOf(frame.gateway)}>
          {() =>
            routing !== null && (
              <div className="flex flex-col">
                <div className="flex flex-wrap items-center gap-x-4 gap-y-1 pb-3 text-sm text-ink-2">
                  <span>
                    plan{" "}
                    <ClusterLink to={`/apply/${routing.planId}`} className="font-mono text-accent underline-offset-2 hover:underline">
                      {shortHash(routing.planId)}
                    </ClusterLink>
                  </span>
                  <span>
                    policy{" "}
                    <code className="font-mono text-ink" data-testid="policy-hash" title={routing.policyHash}>
                      {shortHash(routing.policyHash)}
                    </code>
                  </span>
                  {isTurned(routing, plan) && <Badge tone="accent">set by hand</Badge>}
                  <span className="flex flex-wrap items-center gap-x-2">
                    {models.map((model, at) => (
                      <span key={model} className="inline-flex items-center gap-2">
                        {at > 0 && <span className={isOneOf ? "text-ink-3" : ""}>{isOneOf ? "or" : "→"}</span>}
                        <ModelName model={model} identities={identities} />
                      </span>
                    ))}
                  </span>
                  {routing.policy.kind === "just-in-time" && (
                    <ClusterLink to="/workflows?tab=just-in-time">chosen just in time</ClusterLink>
                  )}
                  {singles !== null && <span data-testid="singles">{singles}</span>}
                  {controls !== null && (
                    <span className="ml-auto">
                      <RollBack
                        clusterId={clusterId}
                        etag={routing.etag}
                        previous={routing.previous}
                        canaryOf={canaryOf}
                        applying={applying}
                      />
                    </span>
                  )}
                </div>
                {controls !== null && controls.panic !== null && (
                  <p role="status" className="mb-3 rounded-md bg-bad-soft px-3 py-1.5 text-sm text-bad">
                    In panic: requests go to {controls.panic.model}, and the settings here have no effect until the panic is cleared.
                  </p>
                )}
                {applying && (
                  <p role="status" className="mb-3 text-sm text-ink-2">
                    A plan is being applied: controls, canary and rollback are disabled until it is done or aborted. Panic always works.
                  </p>
                )}
                {controls !== null && (
                  <div className="-mb-3 grid grid-cols-1 gap-x-10 xl:not-has-[[data-wide=true]]:grid-cols-2">
                    <KnobSection
                      clusterId={clusterId}
                      etag={routing.etag}
                      policy={routing.policy}
                      policyHash={routing.policyHash}
                      planId={routing.planId}
                      plan={inForce}
                      rate={inForce === null ? 0 : rateToPlan(frame, inForce)}
                      canaryOf={canaryOf}
                      applying={applying}
                    />
                    <OrderSection clusterId={clusterId} planId={routing.planId} policy={routing.policy} />
                    {routing.policy.kind === "cascade" && <GraceSection planId={routing.planId} policy={routing.policy} />}
                    <CanarySection
                      clusterId={clusterId}
                      planId={routing.planId}
                      policyHash={routing.policyHash}
                      canary={canary}
                      applying={applying}
                      served={served}
                      timeScale={frame.timeScale}
                    />
                    <ShadowSection clusterId={clusterId} planId={routing.planId} shadow={controls.shadow} />
                    <MirrorSection clusterId={clusterId} policy={routing.policy} mirror={controls.mirror} />
                    {cascadeOf(routing.policy) !== null && controls.strictStages !== undefined && (
                      <StrictSection clusterId={clusterId} strict={controls.strictStages} />
                    )}
                  </div>
                )}
              </div>
            )
          }
        </PanelState>
      </div>
    </Panel>
  );
}
