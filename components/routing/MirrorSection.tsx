"use client";

import dynamic from "next/dynamic";
import { memo, useMemo, useState } from "react";
import type { Mirror } from "@/server/contracts/studio";
import type { PolicyDocument } from "@/solver/plan/policySchema";
import { useGatewayAct } from "../api/acts";
import { useTRPCClient } from "../api/trpc";
import { StateWord } from "../ui/Badge";
import { Button } from "../ui/Button";
import { NumberField } from "../ui/Field";
import { Figure } from "../ui/Figure";
import { formatCount, formatCounted, formatPercent, formatScore, formatUsd } from "../ui/format";
import { ModelChip } from "../ui/ModelChip";
import { PermittedButton } from "../ui/PermittedButton";
import { ReasonField } from "../ui/ReasonField";
import { useFocusHandover } from "../ui/useFocusHandover";
import { useModelIdentities } from "../ui/useModelIdentities";
import { ControlSection } from "./ControlSection";
import { prepareScores, type ScorePicture } from "./prepareMirror";

const ScoreChart = dynamic(() => import("./ScoreChart"), { ssr: false, loading: () => <div className="h-36" /> });

/** Small enough to go unnoticed, large enough to fill a histogram within minutes. */
const DEFAULTS = { percent: 5, maxInFlight: 8 } as const;

const says = ({ total, mean, threshold, acceptedShare, gate }: ScorePicture): string =>
  [
    `${formatCounted(total, "answer")} scored${gate === null ? "" : ` by ${gate}`}, mean ${formatScore(mean)}`,
    threshold === null ? "accepted at any score" : `${formatPercent(acceptedShare)} at ${threshold} or above`,
  ].join(", ");

function Scores({ mirror, policy }: { readonly mirror: Mirror; readonly policy: PolicyDocument }) {
  const { scores, gates } = mirror;
  const pictures = useMemo(() => prepareScores({ scores, ...(gates && { gates }) }, policy), [scores, gates, policy]);
  const identities = useModelIdentities(pictures.map(({ model }) => model));
  if (pictures.length === 0) return <p className="text-sm text-ink-3">No answer has been scored since the mirror started.</p>;
  return (
    <div className="grid gap-4 md:grid-cols-2 xl:grid-cols-3">
      {pictures.map((picture) => {
        const identity = identities.get(picture.model);
        return (
          <figure key={picture.model} className="m-0 min-w-0">
            <figcaption className="flex flex-col gap-0.5 text-sm">
              {identity === undefined ? picture.model : <ModelChip identity={identity} />}
              <span className="text-xs text-ink-3">{says(picture)}</span>
            </figcaption>
            <div aria-hidden="true" className="mt-1">
              <ScoreChart picture={picture} hue={identity?.hue ?? "var(--ink-2)"} />
            </div>
          </figure>
        );
      })}
    </div>
  );
}

function Detail({ mirror, policy }: { readonly mirror: Mirror; readonly policy: PolicyDocument }) {
  return (
    <div className="flex flex-col gap-4">
      <dl className="flex flex-wrap gap-x-8 gap-y-3">
        <Figure name="Picked" value={formatCount(mirror.picked)} detail={`${formatCount(mirror.inFlight)} in progress`} />
        <Figure name="Went through all stages" value={formatCount(mirror.completed)} />
        <Figure name="Given up" value={formatCount(mirror.skipped)} detail="no spare capacity, or too many in progress" />
        <Figure name="Failed" value={formatCount(mirror.failed)} />
        <Figure
          name="Tokens"
          value={formatCount(mirror.inputTokens + mirror.outputTokens)}
          detail={`${formatCount(mirror.outputTokens)} written`}
        />
        <Figure
          name="Cost so far"
          value={formatUsd(mirror.costUsd)}
          {...(mirror.costUsd === null ? { detail: "not every model has a price in the gateway's settings" } : {})}
        />
      </dl>
      <Scores mirror={mirror} policy={policy} />
    </div>
  );
}

/** A share of the requests is sent through every stage in the background, to show how all models score on live traffic. */
export const MirrorSection = memo(function MirrorSection(props: {
  readonly clusterId: string;
  readonly policy: PolicyDocument;
  readonly mirror: Mirror | null;
}) {
  const { clusterId, policy, mirror } = props;
  const client = useTRPCClient();
  const [open, setOpen] = useState(false);
  const button = useFocusHandover<HTMLButtonElement>(!open);
  const [percent, setPercent] = useState<number>(DEFAULTS.percent);
  const [maxInFlight, setMaxInFlight] = useState<number>(DEFAULTS.maxInFlight);
  const [reason, setReason] = useState("");
  const start = useGatewayAct(
    () => client.gateway.startMirror.mutate({ clusterId, share: percent / 100, maxInFlight, reason }),
    () => {
      button.handOver();
      setOpen(false);
    },
  );
  const end = useGatewayAct(() => client.gateway.endMirror.mutate({ clusterId, reason: "" }));
  return (
    <ControlSection
      testId="mirror"
      title="Mirror"
      wide={mirror !== null || open}
      error={start.error ?? end.error}
      says={
        mirror === null ? (
          "No request is copied."
        ) : (
          <>
            <StateWord tone="accent">copying</StateWord>
            <span>
              {formatPercent(mirror.share)} of the cascade's requests, at most {mirror.maxInFlight} at once, by {mirror.by}
            </span>
          </>
        )
      }
      action={
        mirror === null ? (
          <PermittedButton permission="operate" ref={button.target} aria-expanded={open} onClick={() => setOpen(!open)}>
            {open ? "Close mirror" : "Mirror requests"}
          </PermittedButton>
        ) : (
          <PermittedButton permission="operate" ref={button.target} onClick={() => !end.isPending && end.mutate()}>
            End mirror
          </PermittedButton>
        )
      }
    >
      {mirror !== null && <Detail mirror={mirror} policy={policy} />}
      {mirror === null && open && (
        <form
          noValidate
          className="flex flex-col gap-3"
          onSubmit={(event) => {
            event.preventDefault();
            if (!start.isPending) start.mutate();
          }}
        >
          <div className="flex flex-wrap items-end gap-x-4 gap-y-3">
            <NumberField label="Share of requests" unit="%" min={0.1} max={100} step={0.1} value={percent} onChange={setPercent} />
            <NumberField label="Copies at once, at most" min={1} max={1000} whole value={maxInFlight} onChange={setMaxInFlight} />
            <ReasonField className="min-w-40 flex-1" label="Reason for the mirror (optional)" value={reason} onChange={setReason} />
            <Button type="submit" look="primary">
              Start mirror
            </Button>
          </div>
          <p className="text-xs text-ink-3">
            Once answered, a request goes through the stages it did not visit. Every answer is scored by the gate of its stage, the last
            one's by the judge where there is one. Copies use only engines below half load and never wait; their tokens cost money. Drift of
            these scores leads to a proposal, which is planned from them.
          </p>
        </form>
      )}
    </ControlSection>
  );
});
