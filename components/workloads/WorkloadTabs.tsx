"use client";

import { usePathname } from "next/navigation";
import { ClusterLink } from "../shell/ClusterLink";

const tabs = [
  { path: "/workloads", name: "Workloads" },
  { path: "/workloads/profiles", name: "Profiles" },
  { path: "/workloads/prompts", name: "Prompts" },
] as const;

/** The three lists of this page: prompts, profiles and workloads. */
export function WorkloadTabs() {
  const path = usePathname();
  return (
    <nav aria-label="Workloads" className="flex gap-1 overflow-x-auto overflow-y-hidden border-b">
      {tabs.map((tab) => {
        const current = path === tab.path;
        return (
          <ClusterLink
            key={tab.path}
            to={tab.path}
            aria-current={current ? "page" : undefined}
            className={`-mb-px flex h-9 items-center border-b-2 px-3 text-sm no-underline ${current ? "border-accent font-medium text-ink" : "border-transparent text-ink-2 hover:text-ink"}`}
          >
            {tab.name}
          </ClusterLink>
        );
      })}
    </nav>
  );
}
