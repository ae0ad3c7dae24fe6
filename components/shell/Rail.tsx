"use client";

import Link from "next/link";
import { usePathname } from "next/navigation";
import { useMe } from "../api/useMe";
import {
  AuditIcon,
  CalibrationIcon,
  CardsIcon,
  ClustersIcon,
  EnsemblesIcon,
  HistoryIcon,
  LabIcon,
  LiveIcon,
  PeopleIcon,
  PlanIcon,
  WeirIcon,
  WorkflowsIcon,
  WorkloadsIcon,
} from "../ui/icons";
import { type PlaceHref, placeOf, placesFor } from "./places";
import { useClusterLink } from "./useCurrentCluster";

const icons: Readonly<Record<PlaceHref, () => React.ReactNode>> = {
  "/plan": PlanIcon,
  "/history": HistoryIcon,
  "/live": LiveIcon,
  "/workflows": WorkflowsIcon,
  "/ensembles": EnsemblesIcon,
  "/lab": LabIcon,
  "/workloads": WorkloadsIcon,
  "/clusters": ClustersIcon,
  "/cards": CardsIcon,
  "/calibration": CalibrationIcon,
  "/people": PeopleIcon,
  "/audit": AuditIcon,
};

export function Rail() {
  const here = placeOf(usePathname());
  const link = useClusterLink();
  const me = useMe();
  return (
    <nav
      aria-label="Studio"
      className="flex shrink-0 flex-col gap-1 border-r bg-panel p-2 max-md:flex-row max-md:flex-wrap max-md:border-r-0 max-md:border-b max-sm:gap-0 md:w-40"
    >
      <Link href={link("/plan")} className="flex h-8 items-center gap-2 px-2 text-base font-semibold tracking-tight no-underline md:mb-3">
        <span className="text-accent">
          <WeirIcon />
        </span>
        Weir
      </Link>
      {placesFor(me).map((place) => {
        const PlaceIcon = icons[place.href];
        const current = place.href === here;
        return (
          <Link
            key={place.href}
            href={link(place.href)}
            aria-current={current ? "page" : undefined}
            className={`flex h-8 items-center gap-2 rounded-md px-2 text-sm no-underline ${current ? "bg-accent-soft font-medium text-accent" : "text-ink-2 hover:bg-sunken hover:text-ink"}`}
          >
            <PlaceIcon />
            <span className="max-sm:sr-only">{place.name}</span>
          </Link>
        );
      })}
    </nav>
  );
}
