"use client";

import { useMutation } from "@tanstack/react-query";
import Link from "next/link";
import { useEffect, useState } from "react";
import type { ClusterSummary } from "@/server/contracts/studio";
import { toSignedOut } from "../api/signInPage";
import { useTRPC } from "../api/trpc";
import { useMe } from "../api/useMe";
import { Badge, StateWord } from "../ui/Badge";
import { formatAge, shortHash } from "../ui/format";
import { useNow } from "../ui/useNow";
import { useUrlView } from "../url/useUrlView";
import { clusterCodec } from "./clusterCodec";
import { healthTones, healthWord } from "./healthTones";
import { keepLastCluster } from "./lastCluster";
import { PanicButton } from "./PanicButton";
import { isChoice, realBeside } from "./pickCluster";
import { applyTheme, THEMES, type Theme } from "./theme";
import { strayCluster, useClusterLink, useClusters, useCurrentCluster } from "./useCurrentCluster";
import { useStudioSilence } from "./useStudioSilence";

const signs: Readonly<Record<Theme, string>> = { system: "◐", light: "○", dark: "●" };

/** Cycles through system, light and dark. */
function ThemeToggle({ initial }: { readonly initial: Theme }) {
  const [theme, setTheme] = useState(initial);
  return (
    <button
      type="button"
      aria-label={`Theme: ${theme}`}
      title={`Theme: ${theme}`}
      className="inline-flex h-8 items-center gap-1.5 rounded-md px-2 text-sm text-ink-2 hover:bg-sunken hover:text-ink"
      onClick={() => {
        const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? "system";
        applyTheme(next);
        setTheme(next);
      }}
    >
      <span aria-hidden="true">{signs[theme]}</span>
      <span className="hidden lg:inline">{theme}</span>
    </button>
  );
}

/** The plan in force, by the start of its hash, and since when. */
function RunningPlan({ cluster }: { readonly cluster: ClusterSummary }) {
  const nowMs = useNow(1000);
  const link = useClusterLink();
  if (cluster.runningPlanId === null) return <span className="text-ink-3">no plan runs</span>;
  const seconds = cluster.runningSince === null || nowMs === null ? null : (nowMs - Date.parse(cluster.runningSince)) / 1000;
  return (
    <span className="whitespace-nowrap text-ink-2">
      runs{" "}
      <Link href={link(`/apply/${cluster.runningPlanId}`)} className="font-mono text-ink underline-offset-2 hover:underline">
        {shortHash(cluster.runningPlanId)}
      </Link>
      {seconds !== null && <span className="text-ink-3"> for {formatAge(seconds)}</span>}
    </span>
  );
}

/** Writes the current cluster into the address where it is ambiguous, and remembers it for pages that name none. */
function useNamedCluster(clusters: readonly ClusterSummary[], cluster: ClusterSummary | null, named: string | null): void {
  const [, write] = useUrlView(clusterCodec);
  const id = cluster?.spec.id ?? null;
  const isNamed = id !== null && id === named;
  const name = id !== null && named === null && isChoice(clusters);
  useEffect(() => {
    if (isNamed && id !== null) keepLastCluster(id);
    if (name && id !== null) write({ cluster: id }, "replace");
  }, [id, isNamed, name, write]);
}

export function TopBar({ theme }: { readonly theme: Theme }) {
  const trpc = useTRPC();
  const clusters = useClusters().data ?? [];
  const cluster = useCurrentCluster();
  const silent = useStudioSilence() !== null;
  const [{ cluster: named }, write] = useUrlView(clusterCodec);
  const stray = strayCluster(clusters, named);
  const real = cluster === null ? null : realBeside(clusters, cluster);
  useNamedCluster(clusters, cluster, named);
  const signOut = useMutation(trpc.session.signOut.mutationOptions({ onSuccess: toSignedOut }));
  const me = useMe();
  return (
    <header className="flex min-h-12 flex-wrap items-center gap-x-4 gap-y-1 border-b bg-panel px-4 py-1.5 text-sm">
      <label className="flex items-center gap-2">
        <span className="text-xs text-ink-3">Cluster</span>
        <select
          className="h-8 max-w-56 rounded-md border border-line-strong bg-raised px-2 text-sm"
          value={cluster?.spec.id ?? ""}
          disabled={cluster === null}
          onChange={(event) => write({ cluster: event.target.value }, "push")}
        >
          {clusters.map((each) => (
            <option key={each.spec.id} value={each.spec.id}>
              {each.spec.name}
            </option>
          ))}
        </select>
      </label>
      {cluster !== null && (
        <>
          {stray !== null && (
            <span role="status" className="text-warn [overflow-wrap:anywhere]">
              There is no cluster {stray}: this is {cluster.spec.name}.
            </span>
          )}
          {silent ? (
            <StateWord tone="neutral" title="The studio does not answer, so the cluster's health is unknown.">
              unknown
            </StateWord>
          ) : (
            <StateWord tone={healthTones[cluster.health.state]} title={cluster.health.reason}>
              {healthWord(cluster.health.state)}
            </StateWord>
          )}
          {cluster.emulated && (
            <Badge
              tone="hatched"
              title={
                cluster.emulatedAsPlanned
                  ? "Emulated engines follow the planner's own model: what is measured here tests the drivers, not the predictions."
                  : "Engines and GPUs of this cluster are emulated: real HTTP, modelled timing with deviations the planner does not see."
              }
            >
              emulated{cluster.emulatedAsPlanned ? " as planned" : ""}
              {cluster.timeScale === 1 ? "" : ` ×${cluster.timeScale}`}
            </Badge>
          )}
          {cluster.spec.kind === "processes" && (
            <Badge title="Engines of this cluster are real and run on the studio's computer.">real engines, this computer</Badge>
          )}
          {real !== null && (
            <span role="status" className="text-warn [overflow-wrap:anywhere]">
              These figures are emulated; your engines are in{" "}
              <button
                type="button"
                className="font-medium underline underline-offset-2"
                onClick={() => write({ cluster: real.spec.id }, "push")}
              >
                {real.spec.name}
              </button>
              .
            </span>
          )}
          <RunningPlan cluster={cluster} />
        </>
      )}
      <div className="ml-auto flex items-center gap-1">
        {cluster !== null && cluster.health.state !== "not-connected" && (
          <PanicButton key={cluster.spec.id} clusterId={cluster.spec.id} panic={cluster.panic} />
        )}
        <a
          href="/docs"
          target="_blank"
          rel="noreferrer"
          className="inline-flex h-8 items-center rounded-md px-2 text-ink-2 no-underline hover:bg-sunken hover:text-ink"
        >
          Help
        </a>
        <ThemeToggle initial={theme} />
        {me !== null && (
          <span className="px-2 text-ink-2" title={`Role: ${me.role}`}>
            {me.name}
          </span>
        )}
        <button
          type="button"
          className="h-8 rounded-md px-2 text-ink-2 hover:bg-sunken hover:text-ink"
          disabled={signOut.isPending}
          onClick={() => signOut.mutate()}
        >
          Sign out
        </button>
      </div>
    </header>
  );
}
