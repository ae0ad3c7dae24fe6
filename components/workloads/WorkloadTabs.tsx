"use client";

import type { Route } from "next";
import Link from "next/link";
import { usePathname } from "next/navigation";
import { useClusterLink } from "../shell/useCurrentCluster";

const tabs = [
  { path: "/workloads", name: "Workloads" },
  { path: "/workloads/profiles", name: "Profiles" },
  { path: "/workloads/prompts", name: "Prompts" },
] as const;

/** The three lists of this place: prompts are sampled, profiled, and become workloads. */
export function WorkloadTabs() {
  const path = usePathname();
  const link = useClusterLink();
  return (
    <nav aria-label="Workloads" className="flex gap-1 overflow-x-auto overflow-y-hidden border-b">
      {tabs.map((tab) => {
        const current = path === tab.path;
        return (
          <Link
            key={tab.path}
            href={link(tab.path) as Route}
            aria-current={current ? "page" : undefined}
            className={`-mb-px flex h-9 items-center border-b-2 px-3 text-sm no-underline ${current ? "border-accent font-medium text-ink" : "border-transparent text-ink-2 hover:text-ink"}`}
          >
            {tab.name}
          </Link>
        );
      })}
    </nav>
  );
}
