"use client";

import { memo } from "react";
import type { GatewayControls } from "@/server/contracts/studio";
import { useGatewayAct } from "../api/acts";
import { useTRPCClient } from "../api/trpc";
import { StateWord } from "../ui/Badge";
import { Button } from "../ui/Button";
import { ReasonDialog } from "../ui/ReasonDialog";
import { ControlSection } from "./ControlSection";

/** Whether a smaller model answers where every larger one of the cascade is lost. */
export const StrictSection = memo(function StrictSection(props: {
  readonly clusterId: string;
  readonly strict: NonNullable<GatewayControls["strictStages"]> | null;
}) {
  const { clusterId, strict } = props;
  const client = useTRPCClient();
  const end = useGatewayAct(() => client.gateway.releaseStages.mutate({ clusterId, reason: "" }));
  return (
    <ControlSection
      testId="strict-stages"
      title="Fallback"
      wide={false}
      error={end.error}
      says={
        strict === null ? (
          "Where no larger stage is left, the largest smaller one answers, marked."
        ) : (
          <>
            <StateWord tone="warn">strict</StateWord>
            <span>Where no larger stage is left, requests are answered 503; set by {strict.by}.</span>
          </>
        )
      }
      action={
        strict === null ? (
          <ReasonDialog
            button="Refuse instead"
            title="Refuse requests that only a smaller model could answer"
            description="While every larger stage is lost, such requests are answered 503 with a Retry-After header. This stays in effect after restarts and new plans until it is ended."
            keep="Let smaller models answer"
            go="Refuse"
            look="primary"
            act={(reason) => client.gateway.holdStages.mutate({ clusterId, reason })}
          />
        ) : (
          <Button onClick={() => !end.isPending && end.mutate()}>Let smaller models answer</Button>
        )
      }
    />
  );
});
