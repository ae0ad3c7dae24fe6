"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { usePathname } from "next/navigation";
import { useTRPC } from "../api/trpc";
import { unwrapOutcome } from "../api/unwrapOutcome";
import { ClusterLink } from "../shell/ClusterLink";
import { formatCounted } from "../ui/format";
import { NumberInput } from "../ui/NumberInput";
import { Panel } from "../ui/Panel";
import { PanelState } from "../ui/PanelState";
import { queryStatus } from "../ui/queryStatus";
import { useDebounced } from "../ui/useDebounced";
import { codecOf, number } from "../url/addressFields";
import { useUrlView } from "../url/useUrlView";
import { MeasureTrust } from "./MeasureTrust";
import { noAnswers } from "./noAnswers";
import type { PlannedFloor } from "./plannedFloor";
import { prepareTrust } from "./prepareTrust";
import { usePlannedFloor } from "./usePlannedFloor";

/** The floor of quality that measures are tested against: `?floor=80`. null: the page's default. */
export const floorCodec = codecOf({ floor: number({ min: 0, max: 100 }) });

/** Delay after the last change of the floor before measures are tested against it. */
const STILL_MS = 300;

/** The trust in the measures of a profile for a floor of quality, according to hand labels. */
export function TrustPanel({ jobId, workloadIds }: { readonly jobId: string; readonly workloadIds: readonly string[] }) {
  const planned = usePlannedFloor(workloadIds);
  if (planned === null) return null;
  return <Held jobId={jobId} planned={planned} />;
}

function Held({ jobId, planned }: { readonly jobId: string; readonly planned: PlannedFloor }) {
  const trpc = useTRPC();
  const [view, write] = useUrlView(floorCodec);
  const starting = planned.floor;
  const floor = view.floor ?? starting;
  const asked = { jobId, floor: useDebounced(floor, STILL_MS) };
  const query = useQuery(trpc.labels.trust.queryOptions(asked, { select: unwrapOutcome, placeholderData: keepPreviousData }));
  const job = useQuery(trpc.profiles.get.queryOptions({ id: jobId })).data;
  const trust = query.data?.trust;
  const here = usePathname().endsWith("/label");
  const missing = job === undefined ? false : noAnswers(job);
  return (
    <Panel
      title="Trust in the measures"
      aside={
        <>
          {trust !== undefined && <span>{formatCounted(trust.labels, "hand label")}</span>}
          <span className="flex flex-wrap items-center gap-1.5">
            Floor
            <NumberInput
              label="Quality floor that measures are compared with"
              value={floor}
              min={0}
              max={100}
              step={1}
              onChange={(next) => write({ floor: next === starting ? null : next }, "replace")}
            />
            {floor === starting && planned.from}
          </span>
        </>
      }
    >
      <PanelState status={queryStatus(query, { what: "Comparing measures with hand labels" })}>
        {() =>
          trust !== undefined && (
            <div className={`flex flex-col gap-4 ${query.isPlaceholderData ? "opacity-60" : ""}`}>
              {trust.recheck !== null && (
                <p role="status" className="max-w-prose rounded-md bg-warn-soft px-3 py-1.5 text-sm text-warn">
                  Label again: {trust.recheck}
                </p>
              )}
              {missing !== false && !here && (
                <p className="max-w-prose text-sm text-ink-2">
                  {missing.title}. {missing.text}
                </p>
              )}
              {missing === false && !here && trust.labels === 0 && (
                <p className="max-w-prose text-sm text-ink-2">
                  It is not known yet whether these measures distinguish good answers from bad ones. About 50 answers{" "}
                  <ClusterLink to={`/workloads/profiles/${jobId}/label`}>labelled by hand</ClusterLink>
                  (about ten minutes) show it with an interval.
                </p>
              )}
              <div className="flex flex-col gap-4">
                {prepareTrust(trust).map((row) => (
                  <MeasureTrust key={row.id} row={row} />
                ))}
              </div>
            </div>
          )
        }
      </PanelState>
    </Panel>
  );
}
