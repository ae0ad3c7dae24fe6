import { readFileSync } from "node:fs";
import type { Answer } from "@/server/clusters/connector/connector";
import { gpuVariables } from "@/server/lib/gpuCommand";
import type { ProcessConnection } from "./processConnection";

export type Variables = Readonly<Record<string, string | undefined>>;

/** Variables with which programs and CUDA are found and find their caches. The studio's own secrets are not among them. */
const alwaysPassed = [
  ...["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "XDG_CACHE_HOME"],
  ...["LD_LIBRARY_PATH", "CUDA_HOME", "CUDA_PATH", "VIRTUAL_ENV", "CONDA_PREFIX", "HF_HOME", "HF_HUB_CACHE", "SSL_CERT_FILE"],
];

/** The environment of an engine on these GPUs, or the reference that has no target. */
export function engineEnvironment(
  declared: ProcessConnection["environment"],
  own: Variables,
  gpus: readonly number[],
): Answer<Readonly<Record<string, string>>> {
  const variables: Record<string, string> = {};
  for (const name of alwaysPassed) {
    const value = own[name];
    if (value !== undefined) variables[name] = value;
  }
  for (const [name, variable] of Object.entries(declared)) {
    const value = valueBehind(variable, own);
    if (!value.ok) return { ok: false, message: `The engines' variable ${name} ${value.message}` };
    variables[name] = "value" in variable ? value.value.replaceAll("{gpus}", gpus.join(",")) : value.value;
  }
  // Lines are written unbuffered, so that a dying engine's last ones are not lost.
  return { ok: true, value: { ...variables, PYTHONUNBUFFERED: "1", ...gpuVariables(gpus) } };
}

/** The values that must never be shown: the targets of all references, as far as they can be read now. */
export function secretsOf(declared: ProcessConnection["environment"], own: Variables): readonly string[] {
  return Object.values(declared).flatMap((variable) => {
    if ("value" in variable) return [];
    const value = valueBehind(variable, own);
    return value.ok ? [value.value] : [];
  });
}

function valueBehind(variable: ProcessConnection["environment"][string], own: Variables): Answer<string> {
  if ("value" in variable) return { ok: true, value: variable.value };
  if ("fromEnv" in variable) {
    const value = own[variable.fromEnv];
    return value === undefined
      ? { ok: false, message: `refers to the studio's variable ${variable.fromEnv}, which is not set.` }
      : { ok: true, value };
  }
  try {
    return { ok: true, value: readFileSync(variable.fromFile, "utf8").trim() };
  } catch {
    return { ok: false, message: `refers to the file ${variable.fromFile}, which cannot be read.` };
  }
}
