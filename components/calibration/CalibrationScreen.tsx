"use client";

import { useQuery } from "@tanstack/react-query";
import { useCallback } from "react";
import type { ProfileList } from "@/server/contracts/studio";
import { vllmProfile } from "@/solver/hardware/builtInProfiles";
import {
  type EngineKind,
  type EngineProfile,
  engineKinds,
  engineTitle,
  isMeasured,
  type KernelProfile,
} from "@/solver/hardware/engineProfile";
import { useTRPC } from "../api/trpc";
import { useCurrentCluster } from "../shell/useCurrentCluster";
import { Button } from "../ui/Button";
import { SelectField } from "../ui/Field";
import { formatCounted } from "../ui/format";
import { PageHeader } from "../ui/PageHeader";
import { PanelState } from "../ui/PanelState";
import { queryStatus } from "../ui/queryStatus";
import { useUrlView } from "../url/useUrlView";
import { CheckPanel } from "./CheckPanel";
import { type CalibrationView, calibrationCodec } from "./calibrationCodec";
import { FitPanel } from "./FitPanel";
import { ImportProfile } from "./ImportProfile";
import { MeasurePanel } from "./MeasurePanel";
import { ProfilePanel } from "./ProfilePanel";
import type { Hardware } from "./prepareProfile";
import { RunsPanel } from "./RunsPanel";
import { useCheck } from "./useCheck";

const profilesOf = ({ builtIn, own }: ProfileList): readonly EngineProfile[] => [...builtIn, ...own.map((kept) => kept.profile)];

/** The cluster's GPU, and the models that are planned for there: those of the default workload. */
function useHardware(): Hardware | null {
  const trpc = useTRPC();
  const cluster = useCurrentCluster();
  const { data } = useQuery(trpc.workloads.list.queryOptions());
  if (cluster === null || data === undefined) return null;
  const workload = data.find((each) => each.id === cluster.suggested?.workloadId) ?? data[0];
  return {
    gpu: cluster.spec.gpu,
    models: workload?.models.map((each) => each.model) ?? [],
    gpusPerNode: Math.max(...cluster.spec.nodes.map((node) => node.gpus)),
  };
}

/** The panels for one uploaded table under one profile. */
function Table(props: {
  readonly uploadId: string;
  readonly profile: EngineProfile;
  readonly list: ProfileList;
  readonly view: CalibrationView;
  readonly write: (change: Partial<CalibrationView>, how: "push" | "replace") => void;
}) {
  const { uploadId, profile, list, view, write } = props;
  const { check, error } = useCheck(uploadId, profile.id);
  const engines = engineKinds.filter((kind) => check.predictions.some(({ row }) => row.engine === kind));
  const baseOf = useCallback(
    (engine: EngineKind) => (engine === profile.engine ? profile : (list.builtIn.find((each) => each.engine === engine) ?? profile)),
    [profile, list],
  );
  // A fit adjusts coefficients, which measured engines do not have.
  const fitBaseOf = (engine: EngineKind): KernelProfile =>
    !isMeasured(profile) && engine === profile.engine ? profile : (list.builtIn.find((each) => each.engine === engine) ?? vllmProfile);
  const leave = () => write({ rows: null, fit: null }, "push");
  return (
    <>
      <RunsPanel
        uploadId={uploadId}
        note={check.name === "" ? null : `${check.name}: ${formatCounted(check.rows, "run")} read.`}
        onTable={(rows) => write({ rows, fit: null }, "push")}
        onLeave={leave}
      />
      <CheckPanel
        check={check}
        error={error}
        profileOf={baseOf}
        view={view}
        onView={(change) => write(change, "replace")}
        onLeave={leave}
      />
      {check.errors !== null && engines.length > 0 && (
        <FitPanel
          uploadId={uploadId}
          file={check.name}
          profile={profile}
          engines={engines}
          baseOf={fitBaseOf}
          fitId={view.fit}
          onFit={(fit) => write({ fit }, "push")}
          onKept={(id) => write({ profile: id, fit: null }, "push")}
        />
      )}
    </>
  );
}

/** The measurement of an engine; another engine in the page's address begins it again. */
function Measure(props: {
  readonly view: CalibrationView;
  readonly inUse: EngineProfile;
  readonly write: (change: Partial<CalibrationView>, how: "push" | "replace") => void;
}) {
  const { engine, served, gpu, tp, pp } = props.view;
  const target = { engine, served, gpu, tp, pp };
  return (
    <MeasurePanel
      key={JSON.stringify(target)}
      target={target}
      inUse={props.inUse}
      onShow={(id) => props.write({ profile: id, fit: null }, "push")}
    />
  );
}

/** Calibration: may these predictions be trusted for my engines? */
export function CalibrationScreen() {
  const trpc = useTRPC();
  const query = useQuery(trpc.calibrations.list.queryOptions(undefined, { refetchOnWindowFocus: "always" }));
  const [view, write] = useUrlView(calibrationCodec);
  const hardware = useHardware();
  const list = query.data;
  const profiles = list === undefined ? [] : profilesOf(list);
  const asked = profiles.find((each) => each.id === view.profile);
  const inUse = profiles.find((each) => each.id === list?.inUse);
  const profile = asked ?? inUse;
  return (
    <div className="flex flex-col gap-4">
      <PageHeader title="Calibration">
        <p className="text-sm text-ink-3">How far predictions are from measured runs, and the runs they were fitted on.</p>
        <Button className="ml-auto" onClick={() => write({ importing: true }, "push")}>
          Import a profile
        </Button>
      </PageHeader>
      <PanelState status={queryStatus(query, { what: "Reading engine profiles" })}>
        {() =>
          list === undefined || profile === undefined || inUse === undefined ? null : (
            <div className="flex flex-col gap-4">
              <div className="flex flex-wrap items-end gap-x-6 gap-y-3 rounded-lg border bg-panel px-4 py-3">
                <SelectField
                  className="w-72 max-w-full"
                  label="Engine profile"
                  value={profile.id}
                  options={profiles.map((each) => ({
                    value: each.id,
                    text: `${each.name} (${list.own.some((kept) => kept.profile.id === each.id) ? `yours, ${engineTitle(each.engine)}` : "built in"}${each.id === list.inUse ? ", in use" : ""})`,
                  }))}
                  onChange={(id) => write({ profile: id }, "push")}
                />
                {view.profile !== null && asked === undefined && (
                  <p role="status" className="flex min-h-8 items-center text-sm text-warn">
                    The profile "{view.profile}" no longer exists. This is "{profile.name}", which is used for planning.
                  </p>
                )}
                {inUse.id !== profile.id && <p className="flex min-h-8 items-center text-xs text-ink-3">Plans use "{inUse.name}".</p>}
              </div>
              {view.importing && (
                <ImportProfile
                  list={list}
                  hardware={hardware}
                  onClose={() => write({ importing: false }, "replace")}
                  onShow={(id) => write({ importing: false, profile: id, fit: null }, "replace")}
                />
              )}
              {/* First where the page was opened to measure an engine. */}
              {view.engine !== null && <Measure view={view} inUse={inUse} write={write} />}
              <ProfilePanel key={profile.id} profile={profile} list={list} hardware={hardware} />
              {view.engine === null && <Measure view={view} inUse={inUse} write={write} />}
              {view.rows === null ? (
                <RunsPanel
                  uploadId={null}
                  note={null}
                  onTable={(rows) => write({ rows, fit: null }, "push")}
                  onLeave={() => write({ rows: null, fit: null }, "push")}
                />
              ) : (
                <Table key={`${view.rows} ${profile.id}`} uploadId={view.rows} profile={profile} list={list} view={view} write={write} />
              )}
            </div>
          )
        }
      </PanelState>
    </div>
  );
}
