"use client";

import Link from "next/link";
import { useMemo, useState } from "react";
import { useClusterLink } from "@/components/shell/useCurrentCluster";
import { agedStatus } from "@/components/ui/agedStatus";
import { Button, buttonClass } from "@/components/ui/Button";
import { SelectField } from "@/components/ui/Field";
import { formatCounted } from "@/components/ui/format";
import { PanelState, type PanelStatus } from "@/components/ui/PanelState";
import { queryStatus } from "@/components/ui/queryStatus";
import { useNow } from "@/components/ui/useNow";
import { useUrlView } from "@/components/url/useUrlView";
import { usePlan } from "@/components/workflows/graph/usePlan";
import type { ClusterSummary, GatewayEnsembles, KeptEnsemble, ServedEnsemble } from "@/server/contracts/studio";
import { ensemblesCodec } from "../address/ensemblesCodec";
import { OtherEnsembles } from "../address/OtherEnsembles";
import { useEnsembles } from "../address/useEnsembles";
import { useServed } from "../address/useServed";
import { OnlineEnsemble } from "./OnlineEnsemble";
import { OnlineServe } from "./OnlineServe";
import { OnlineSnippet } from "./OnlineSnippet";

const nothingRuns: PanelStatus = {
  kind: "empty",
  title: "Nothing runs here",
  text: "This cluster is described for planning only: it has no gateway. Attach its engines first.",
};

/** Why nothing is served, and how to serve the first; false: something is. */
function emptyOf(
  answer: GatewayEnsembles | undefined,
  way: { readonly kept: number; readonly onServe: () => void; readonly placeLink: ReturnType<ReturnType<typeof useClusterLink>> },
): PanelStatus | false {
  if (answer === undefined || answer.ensembles.length > 0) return false;
  return {
    kind: "empty",
    title: "No ensemble is served yet",
    text:
      way.kept === 0
        ? "Make an ensemble first: its experts, how their votes are read, and who aggregates where they disagree."
        : "Clients call a served ensemble by its name, like a model: its experts answer in parallel, and the aggregator is called only where they disagree.",
    action:
      way.kept === 0 ? (
        <Link href={way.placeLink} className={buttonClass()}>
          Make an ensemble
        </Link>
      ) : (
        <Button look="primary" onClick={way.onServe}>
          Serve an ensemble
        </Button>
      ),
  };
}

/** Says that the ensemble of the address is not served, with links to one that is, or to serve it. */
function notServed(
  named: string,
  way: {
    readonly ensembles: readonly KeptEnsemble[];
    readonly served: readonly ServedEnsemble[];
    readonly onServe: () => void;
    readonly onEnsemble: (name: string) => void;
  },
): PanelStatus {
  const kept = way.ensembles.some(({ ensemble }) => ensemble.name === named);
  return {
    kind: "empty",
    title: kept ? `${named} is not served here` : `There is no ensemble ${named}`,
    text: kept
      ? "It is stored in the studio, but this gateway serves other ensembles."
      : "It was removed or renamed, or the address is incomplete. This gateway serves other ensembles.",
    action: (
      <OtherEnsembles label="Served here" names={way.served.map(({ ensemble }) => ensemble.name)} onEnsemble={way.onEnsemble}>
        {kept && (
          <Button look="primary" onClick={way.onServe}>
            Serve {named}
          </Button>
        )}
      </OtherEnsembles>
    ),
  };
}

/** The ensembles that the cluster's gateway serves now. */
export function OnlineTab({ cluster }: { readonly cluster: ClusterSummary }) {
  const [view, write] = useUrlView(ensemblesCodec);
  const link = useClusterLink();
  const nowMs = useNow(1_000);
  const clusterId = cluster.spec.id;
  const { gatewayUrl } = cluster;
  const query = useServed(clusterId, { enabled: gatewayUrl !== null });
  const ensembles = useEnsembles().data ?? [];
  const plan = usePlan(cluster.runningPlanId).data?.plan;
  const models = useMemo(() => plan?.deployment.map(({ model }) => model) ?? null, [plan]);
  // An ensemble that was just served is not in an earlier answer of the gateway.
  const [servedAtMs, setServedAtMs] = useState(0);
  const onServe = () => write({ open: "serve" }, "push");
  const served = query.data?.ensembles ?? [];
  const shown = view.ensemble === null ? served[0] : served.find(({ ensemble }) => ensemble.name === view.ensemble);
  const empty =
    view.ensemble !== null && served.length > 0 && shown === undefined
      ? query.dataUpdatedAt <= servedAtMs
        ? ({ kind: "loading", what: "Asking the gateway" } as const)
        : notServed(view.ensemble, { ensembles, served, onServe, onEnsemble: (ensemble) => write({ ensemble }, "replace") })
      : emptyOf(query.data, { kept: ensembles.length, onServe, placeLink: link("/ensembles?open=new") });
  const status = gatewayUrl === null ? nothingRuns : agedStatus(queryStatus(query, { what: "Asking the gateway", empty }), query, nowMs);
  return (
    <>
      <PanelState status={status}>
        {() =>
          shown !== undefined && (
            <div className={`flex flex-col gap-4 ${status.kind === "stale" ? "grayscale" : ""}`}>
              <div className="flex flex-wrap items-end justify-between gap-3">
                <SelectField
                  label="Served here"
                  value={shown.ensemble.name}
                  options={served.map(({ ensemble, requests }) => ({
                    value: ensemble.name,
                    text: `${ensemble.name}, ${formatCounted(requests, "request")}`,
                  }))}
                  onChange={(name) => write({ ensemble: name }, "push")}
                />
                <Button onClick={onServe}>Serve an ensemble</Button>
              </div>
              <OnlineEnsemble
                key={shown.ensemble.name}
                cluster={cluster}
                sample={view.sample}
                served={shown}
                kept={ensembles.find(({ ensemble }) => ensemble.name === shown.ensemble.name)}
              />
              {gatewayUrl !== null && (
                <OnlineSnippet
                  gatewayUrl={gatewayUrl}
                  name={shown.ensemble.name}
                  hasSkills={shown.ensemble.skills !== undefined}
                  language={view.snippet}
                  onLanguage={(snippet) => write({ snippet }, "replace")}
                />
              )}
            </div>
          )
        }
      </PanelState>
      <OnlineServe
        clusterId={clusterId}
        ensembles={ensembles}
        named={view.ensemble}
        models={models}
        served={served.map(({ ensemble }) => ensemble)}
        open={view.open === "serve"}
        onClose={() => write({ open: null }, "replace")}
        onServed={(ensemble) => {
          setServedAtMs(Date.now());
          write({ open: null, ensemble }, "replace");
        }}
      />
    </>
  );
}
