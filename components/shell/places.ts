import type { Route } from "next";

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
  { href: "/audit", name: "Audit", key: "u" },
] as const satisfies readonly { readonly href: Route; readonly name: string; readonly key: string }[];

export type PlaceHref = (typeof places)[number]["href"];

/** The rail's page of a path: a page below `/apply` belongs to Apply. */
export function placeOf(path: string): PlaceHref | null {
  if (path.startsWith("/apply")) return "/history";
  return places.find((place) => path === place.href || path.startsWith(`${place.href}/`))?.href ?? null;
}
