import type { Route } from "next";
import type { Me, Permission } from "@/server/contracts/studio";

interface Place {
  readonly href: Route;
  readonly name: string;
  readonly key: string;
  /** Who sees it in the rail; absent: everybody. */
  readonly permission?: Permission;
}

/** The rail's pages, each with the key that opens it after `g`. */
export const places = [
  { href: "/plan", name: "Plan", key: "p" },
  { href: "/history", name: "Apply", key: "a" },
  { href: "/live", name: "Live", key: "l" },
  { href: "/workflows", name: "Workflows", key: "f" },
  { href: "/ensembles", name: "Ensembles", key: "m" },
  { href: "/lab", name: "Lab", key: "e" },
  { href: "/workloads", name: "Workloads", key: "w" },
  { href: "/clusters", name: "Clusters", key: "c" },
  { href: "/cards", name: "Cards", key: "k" },
  { href: "/calibration", name: "Calibration", key: "b" },
  { href: "/audit", name: "Audit", key: "d", permission: "audit" },
  { href: "/people", name: "People", key: "u", permission: "manage" },
] as const satisfies readonly Place[];

export type PlaceHref = (typeof places)[number]["href"];

/** The places of a person's rail; while the person is not known yet, those of everybody. */
export const placesFor = (me: Pick<Me, "permissions"> | null): readonly (typeof places)[number][] =>
  places.filter((place: Place) => place.permission === undefined || (me?.permissions.includes(place.permission) ?? false));

/** The rail's page of a path: a page below `/apply` belongs to Apply. */
export function placeOf(path: string): PlaceHref | null {
  if (path.startsWith("/apply")) return "/history";
  return places.find((place) => path === place.href || path.startsWith(`${place.href}/`))?.href ?? null;
}
