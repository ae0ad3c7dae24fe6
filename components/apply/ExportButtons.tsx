"use client";

import { useAct } from "../api/acts";
import { type Inputs, useTRPCClient } from "../api/trpc";
import { Button } from "../ui/Button";
import { ErrorLine } from "../ui/ErrorLine";
import { saveText } from "../ui/saveText";

const formats = [
  { format: "kubernetes", name: "Kubernetes" },
  { format: "ray", name: "Ray Serve" },
  { format: "commands", name: "Command lines" },
] as const satisfies readonly { readonly format: Inputs["plans"]["export"]["format"]; readonly name: string }[];

/** The plan as files for a repository, whatever runs this cluster. */
export function ExportButtons({ planId, clusterId }: { readonly planId: string; readonly clusterId: string }) {
  const client = useTRPCClient();
  const save = useAct(
    (format: Inputs["plans"]["export"]["format"]) => client.plans.export.query({ planId, clusterId, format }),
    ({ name, text }) => saveText(name, text),
  );
  return (
    <fieldset className="flex flex-wrap items-center gap-2 text-sm">
      <legend className="float-left mr-2 text-ink-2">Export for</legend>
      {formats.map(({ format, name }) => (
        <Button key={format} onClick={() => !save.isPending && save.mutate(format)}>
          {name}
        </Button>
      ))}
      <span role="status" className="text-xs text-ink-3">
        {save.isSuccess && `Saved as ${save.data.name}`}
      </span>
      <ErrorLine error={save.error} />
    </fieldset>
  );
}
