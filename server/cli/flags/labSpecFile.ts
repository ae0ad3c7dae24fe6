import { z } from "zod";
import type { LabSpec } from "@/server/contracts/studio";
import { labSpecSchema } from "@/server/contracts/studio/lab";
import { readYamlFile } from "./yamlFile";

/** A description in a file may leave out which workload it is of: the flags say. */
const fileSchema = labSpecSchema.partial({ workloadId: true });
/** A run, as the Lab page and `--json` write it: with its description and the workload's name. */
const runSchema = z.object({ spec: z.record(z.string(), z.unknown()), workloadName: z.string().optional() });

type Read = { readonly ok: true; readonly spec: LabSpec } | { readonly ok: false; readonly message: string };

/**
 * The description of a run in a YAML or JSON file, by itself or within a run that was exported, or one sentence with file, line and field.
 * One of another workload than the flags' is refused.
 */
export function readLabSpec(path: string, workloadId: string): Read {
  const run = readYamlFile("--spec", path, runSchema);
  const read = run.ok ? readYamlFile("--spec", path, runSchema.extend({ spec: fileSchema })) : readYamlFile("--spec", path, fileSchema);
  if (!read.ok) return read;
  const spec = "spec" in read.value ? read.value.spec : read.value;
  const { workloadId: named = workloadId } = spec;
  if (named === workloadId) return { ok: true, spec: { ...spec, workloadId } };
  const called = run.ok && run.value.workloadName !== undefined ? ` (${run.value.workloadName})` : "";
  return {
    ok: false,
    message: `${path}: workloadId does not match the files: it names ${named}${called}, and the files make ${workloadId}. Give that workload, or leave the field out.`,
  };
}
