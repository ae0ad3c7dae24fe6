"use client";

import { useRouter } from "next/navigation";
import { useAct } from "../api/acts";
import { useTRPCClient } from "../api/trpc";
import { useClusterLink } from "../shell/useCurrentCluster";
import { ErrorLine } from "../ui/ErrorLine";

async function readDocument(file: File): Promise<unknown> {
  try {
    return JSON.parse(await file.text());
  } catch {
    throw new Error(`${file.name} is not JSON: choose a plan exported from the Plan page.`);
  }
}

/** Imports a plan document and opens its review, which shows the difference before anything can be done with it. */
export function PlanImport() {
  const client = useTRPCClient();
  const router = useRouter();
  const link = useClusterLink();
  const take = useAct(
    async (file: File) => client.plans.import.mutate({ document: await readDocument(file) }),
    ({ id }) => router.push(link(`/apply/${id}`)),
  );
  return (
    <>
      <ErrorLine error={take.error} />
      <label className="inline-flex h-8 cursor-pointer items-center rounded-md border border-line-strong bg-raised px-3 text-sm font-medium text-ink focus-within:outline-2 focus-within:outline-accent hover:bg-sunken">
        Import plan
        <input
          type="file"
          accept="application/json,.json"
          className="sr-only"
          onChange={(event) => {
            const file = event.target.files?.[0];
            if (file !== undefined) take.mutate(file);
            event.target.value = "";
          }}
        />
      </label>
    </>
  );
}
